package faux

// headFaults are wrong statuses and header fields.
var headFaults = []*Fault{
	{
		ID: "wrong-status", Doc: "it answers 200 instead of 201", In: "items/story",
		Says: []Finding{
			{difference, "status", "1", "status", "201", "200", candidate},
			{violation, "undocumented-status", "1", "status", "", "", candidate},
		},
		answer: about(create, func(a *answer) { a.status = 200 }),
	},
	{
		ID: "undeclared-status", Doc: "it reports a deleted item with a status that is not declared", In: "items/story",
		Says: []Finding{
			{difference, "status", "3", "status", "200", "299", candidate},
			{violation, "undocumented-status", "3", "status", "", "", candidate},
		},
		answer: about(read, func(a *answer) { a.status = 299 }),
	},
	{
		ID: "server-error", Doc: "it answers 500 with an error of its runtime", In: "items/story",
		Says: []Finding{
			{difference, "status", "3", "status", "200", "500", candidate},
			{difference, "header-missing", "3", "header Cache-Control", `"no-store"`, "—", candidate},
			{difference, "header-missing", "3", "header X-Shelf", `"s-‹unique›"`, "—", candidate},
			{difference, "header-value", "3", "header Content-Type", `"application/json"`, `"text/plain"`, candidate},
			{difference, "body", "3", "body", theLamp, "panic: nil map\n", candidate},
			{violation, "undocumented-status", "3", "status", "", "", candidate},
		},
		answer: about(read, func(a *answer) {
			a.status, a.header = 500, []field{{"Content-Type", "text/plain"}}
			a.value, a.text = nil, []byte("panic: nil map\n")
		}),
	},
	{
		ID: "missing-header", Doc: "it leaves out a header field that is required", In: "items/story",
		Says: []Finding{
			{difference, "header-missing", "3", "header Cache-Control", `"no-store"`, "—", candidate},
			{violation, "missing-header", "3", "header Cache-Control", "", "", candidate},
		},
		answer: about(read, func(a *answer) { a.unset("Cache-Control") }),
	},
	{
		ID: "extra-header", Doc: "it sends a header field that the other does not send", In: "items/story",
		Says: []Finding{
			{difference, "header-extra", "4", "header Cache-Control", "—", `"no-store"`, silent},
		},
		answer: about(shelf, func(a *answer) { a.set("Cache-Control", "no-store") }),
	},
	{
		ID: "wrong-header-value", Doc: "it gives a header field another value", In: "items/story",
		Says: []Finding{
			{difference, "header-value", "3", "header Cache-Control", `"no-store"`, `"no-cache"`, candidate},
			{violation, "header-value", "3", "header Cache-Control", "", "", candidate},
		},
		answer: about(read, func(a *answer) { a.set("Cache-Control", "no-cache") }),
	},
	{
		ID: "doubled-header", Doc: "it sends a header field twice", In: "items/story",
		Says: []Finding{
			{difference, "header-value", "3", "header X-Shelf", `"s-‹unique›"`, `["s-‹unique›" "s"]`, silent},
		},
		answer: about(read, func(a *answer) { a.header = append(a.header, field{"X-Shelf", "s"}) }),
	},
	{
		ID: "wrong-content-type", Doc: "it declares JSON as plain text", In: "items/story",
		Says: []Finding{
			{difference, "header-value", "3", "header Content-Type", `"application/json"`, `"text/plain"`, candidate},
			{violation, "undocumented-media-type", "3", "header Content-Type", "", "", candidate},
		},
		answer: about(read, func(a *answer) { a.set("Content-Type", "text/plain") }),
	},
	{
		ID: "no-content-type", Doc: "it leaves out the content type", In: "items/story",
		Says: []Finding{
			{difference, "header-missing", "3", "header Content-Type", `"application/json"`, "—", candidate},
			{violation, "undocumented-media-type", "3", "header Content-Type", "", "", candidate},
		},
		answer: about(read, func(a *answer) { a.write = bare(a) }),
	},
	{
		ID: "stream-for-answer", Doc: "it answers with an event stream instead of a document", In: "items/story",
		Says: []Finding{
			{difference, "header-value", "3", "header Content-Type", `"application/json"`, `"text/event-stream"`, candidate},
			{violation, "undocumented-media-type", "3", "header Content-Type", "", "", candidate},
		},
		answer: about(read, func(a *answer) { a.set("Content-Type", "text/event-stream") }),
	},
	{
		ID: "answer-for-stream", Doc: "it answers with a document instead of an event stream", In: "events/end",
		Says: []Finding{
			{difference, "header-value", "1", "header Content-Type", `"text/event-stream"`, `"application/json"`, candidate},
			{difference, "body", "1", "body", "an event stream", "a body", candidate},
			{violation, "undocumented-media-type", "1", "header Content-Type", "", "", candidate},
			{shortfall, "event-awaited", "1", "stream feed: ready", `event "hello"`, "there is no event stream: the answer is 200 application/json", candidate},
		},
		answer: func(a *answer) {
			if a.stream != nil && a.stream.last > 0 {
				a.stream, a.header, a.value = nil, []field{{"Cache-Control", "no-store"}}, object{"events": []any{}}
			}
		},
	},
	{
		ID: "early-hint", Doc: "it sends an early hint before the answer", In: "items/story",
		Says: []Finding{
			{difference, "status", "3", "interim responses", "—", "103", silent},
		},
		answer: instead(read, func(w *wire, head, body []byte) {
			w.put([]byte("HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"))
			w.framed(head, len(body), body)
		}),
	},
	{
		ID: "body-on-204", Doc: "it declares a body where HTTP allows no body", In: "items/story",
		Says: []Finding{
			{difference, "status", "6", "status", "204", "200", candidate},
			{difference, "header-extra", "6", "header Content-Type", "—", `"application/json"`, candidate},
			{difference, "body-not-json", "6", "body", "—", `{"deleted":true}`, candidate},
			{violation, "undocumented-status", "6", "status", "", "", candidate},
		},
		answer: func(a *answer) {
			if a.operation == "DELETE /items/{id}" && a.item == "chair" {
				a.status, a.value = 200, object{"deleted": true}
			}
		},
	},
}

func bare(a *answer) func(w *wire, head, body []byte) {
	return func(w *wire, _, body []byte) {
		a.unset("Content-Type")
		w.framed(a.head(w.server.Style), len(body), body)
	}
}
