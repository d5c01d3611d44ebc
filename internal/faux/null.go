package faux

import "net/http"

// Nulls lists servers that do nothing but report that they are ready. They must pass no scenario: not as candidate,
// not as reference, not when both sides are the same, and not alone. Says is about the first step of the scenario.
func Nulls() []*Fault { return nulls }

// lost is the finding that follows when an answer has no id to capture. instead says what it has.
func lost(instead string) Finding {
	return Finding{shortfall, "capture-missing", "1", "capture", "lamp from $.id", "there is no such value; " + instead, candidate}
}

var nulls = []*Fault{
	{
		ID: "404", Doc: "it answers 404 to everything", In: "items/story",
		Says: []Finding{
			{difference, "status", "1", "status", "201", "404", candidate},
			{difference, "header-missing", "1", "header Content-Type", `"application/json"`, "—", candidate},
			{difference, "header-missing", "1", "header Location", `"/items/‹id›"`, "—", candidate},
			{difference, "body", "1", "body", theLamp, "—", candidate},
			{violation, "undocumented-status", "1", "status", "", "", candidate},
			lost("there is no content"),
		},
		answer: everything(func(a *answer) { a.say(http.StatusNotFound, nil, "") }),
	},
	{
		ID: "404-politely", Doc: "it answers 404 to everything, with the error that the contract has for it", In: "items/story",
		Says: []Finding{
			{difference, "status", "1", "status", "201", "404", candidate},
			{difference, "header-missing", "1", "header Location", `"/items/‹id›"`, "—", candidate},
			{difference, "body", "1", "body", theLamp, `{"error":{"code":"NO_SUCH_ITEM","message":"there is no such item"}}`, candidate},
			{violation, "undocumented-status", "1", "status", "", "", candidate},
			lost(`$ is an object with "error"`),
		},
		answer: everything(func(a *answer) {
			a.say(http.StatusNotFound, []byte(`{"error":{"code":"NO_SUCH_ITEM","message":"there is no such item"}}`), "application/json")
		}),
	},
	{
		ID: "204", Doc: "it answers 204 to everything", In: "items/story",
		Says: []Finding{
			{difference, "status", "1", "status", "201", "204", candidate},
			{difference, "header-missing", "1", "header Content-Type", `"application/json"`, "—", candidate},
			{difference, "header-missing", "1", "header Location", `"/items/‹id›"`, "—", candidate},
			{difference, "body-not-json", "1", "body", theLamp, "—", candidate},
			{violation, "undocumented-status", "1", "status", "", "", candidate},
			lost("there is no content"),
		},
		answer: everything(func(a *answer) { a.say(http.StatusNoContent, nil, "") }),
	},
	{
		ID: "empty-object", Doc: "it answers {} to everything", In: "items/story",
		Says: []Finding{
			{difference, "status", "1", "status", "201", "200", candidate},
			{difference, "header-missing", "1", "header Location", `"/items/‹id›"`, "—", candidate},
			{difference, "field-missing", "1", "body /createdAt", `"‹time›"`, "—", candidate},
			{difference, "field-missing", "1", "body /id", `"‹id›"`, "—", candidate},
			{difference, "field-missing", "1", "body /name", `"lamp"`, "—", candidate},
			{difference, "field-missing", "1", "body /self", `"/items/‹id›"`, "—", candidate},
			{difference, "field-missing", "1", "body /serial", `‹serial›`, "—", candidate},
			{difference, "field-missing", "1", "body /shelf", `"s-‹unique›"`, "—", candidate},
			{difference, "field-missing", "1", "body /size", `4`, "—", candidate},
			{difference, "field-missing", "1", "body /tags", `["tall","brass","fünf ✓"]`, "—", candidate},
			{difference, "field-missing", "1", "body /weight", `1.5`, "—", candidate},
			{violation, "undocumented-status", "1", "status", "", "", candidate},
			lost("$ is an object without members"),
		},
		answer: everything(func(a *answer) { a.say(http.StatusOK, []byte("{}"), "application/json") }),
	},
	{
		ID: "echo", Doc: "it answers with the body of the request", In: "items/story",
		Says: []Finding{
			{difference, "status", "1", "status", "201", "200", candidate},
			{difference, "header-missing", "1", "header Location", `"/items/‹id›"`, "—", candidate},
			{difference, "field-missing", "1", "body /createdAt", `"‹time›"`, "—", candidate},
			{difference, "field-missing", "1", "body /id", `"‹id›"`, "—", candidate},
			{difference, "field-missing", "1", "body /self", `"/items/‹id›"`, "—", candidate},
			{difference, "field-missing", "1", "body /serial", `‹serial›`, "—", candidate},
			{difference, "field-missing", "1", "body /size", `4`, "—", candidate},
			{difference, "field-missing", "1", "body /weight", `1.5`, "—", candidate},
			{violation, "undocumented-status", "1", "status", "", "", candidate},
			lost(`$ is an object with "name", "shelf", "tags"`),
		},
		answer: everything(func(a *answer) { a.say(http.StatusOK, a.sent, "application/json") }),
	},
	{
		ID: "close", Doc: "it closes every connection", In: "items/story",
		Says:   []Finding{broken("1", "head", "the connection was closed before the head")},
		answer: everything(func(a *answer) { a.write = func(*wire, []byte, []byte) {} }),
	},
	{
		ID: "hang", Doc: "it does not answer, and keeps the connection open", In: "items/story", Clock: true,
		Says:   []Finding{broken("1", "head", "the step's 5s were over before the head")},
		answer: everything(func(a *answer) { a.write = func(w *wire, _, _ []byte) { w.hang() } }),
	},
}

// everything returns a hook that changes every answer except that of the health check.
func everything(change func(*answer)) func(*answer) {
	return func(a *answer) {
		if a.operation != "GET /health" {
			change(a)
		}
	}
}

// say replaces the whole answer.
func (a *answer) say(status int, text []byte, contentType string) {
	a.status, a.header, a.value, a.text, a.stream = status, nil, nil, text, nil
	if contentType != "" {
		a.set("Content-Type", contentType)
	}
}

// Unready returns the same server, except that it also fails the health check.
func (f *Fault) Unready() *Fault {
	out := *f
	out.answer = func(a *answer) {
		a.operation = ""
		f.answer(a)
	}
	return &out
}
