package sample

import "github.com/lockstep-dev/lockstep/harness/transcript"

// Header returns header fields from alternating names and values.
func Header(pairs ...string) (h transcript.Header) {
	for i := 0; i < len(pairs); i += 2 {
		h = append(h, transcript.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return h
}

// Body is a complete body.
func Body(s string) transcript.Body { return transcript.Body{Bytes: []byte(s), Size: int64(len(s))} }

// Response is a transcript with one exchange, whose request has no body.
func Response(method, target string, status int, h transcript.Header, content string) *transcript.Transcript {
	return &transcript.Transcript{Steps: []transcript.Step{{ID: "1", Exchanges: []*transcript.Exchange{{
		Request:  transcript.Request{Method: method, Target: target},
		Response: &transcript.Response{Status: status, Header: h, Body: Body(content)},
	}}}}}
}

// JSONResponse is GET /x with a response of status 200 and a JSON body.
func JSONResponse(content string) *transcript.Transcript {
	return Response("GET", "/x", 200, Header("Content-Type", "application/json"), content)
}

// Request is a transcript with one request, whose response has status 204.
func Request(method, target string, h transcript.Header, content string) *transcript.Transcript {
	t := Response(method, target, 204, nil, "")
	t.Steps[0].Exchanges[0].Request.Header = h
	t.Steps[0].Exchanges[0].Request.Body = Body(content)
	return t
}

// JSONRequest is POST /x with a JSON body.
func JSONRequest(content string) *transcript.Transcript {
	return Request("POST", "/x", Header("Content-Type", "application/json"), content)
}

// Stream is GET /x with an event stream as its response.
func Stream(events ...transcript.Event) *transcript.Transcript {
	t := Response("GET", "/x", 200, Header("Content-Type", "text/event-stream"), "")
	t.Steps[0].Exchanges[0].Stream = "s"
	t.Streams = []*transcript.Stream{{Name: "s", Step: "1", Events: events}}
	return t
}

// Event is an event of this type.
func Event(name, data string) transcript.Event { return transcript.Event{Type: name, Data: data} }

// CutShort breaks the connection of a transcript's first exchange while the body of the response arrives.
func CutShort(t *transcript.Transcript) *transcript.Transcript {
	t.Steps[0].Exchanges[0].Failure = &transcript.Failure{Kind: transcript.FailClosed, Phase: transcript.PhaseBody}
	return t
}
