package spec

import "github.com/lockstep-dev/lockstep/harness/transcript"

// A Stream is what the document says about one stream of a transcript.
type Stream struct {
	Op       *Operation
	Response *Response    // the response with the events; nil for a socket and a program
	Media    *Media       // its content type
	Events   *EventStream // nil when they are not described
	Exchange int          // the index of the exchange that opened the stream, among those of its step
}

// Stream finds what the document says about a stream of a transcript. It returns false when that is nothing.
func (d *Document) Stream(t *transcript.Transcript, s *transcript.Stream) (at Stream, ok bool) {
	ex, index := opening(t, s)
	at.Exchange = index
	switch {
	case s.Wire != "" && ex == nil: // a program, or a socket without its request
		at.Op = d.named[s.Operation]
	case ex == nil || ex.Response == nil:
		return at, false
	default:
		at.Op, _ = d.Operation(ex.Request.Method, ex.Request.Target)
	}
	switch {
	case at.Op == nil:
		return at, false
	case s.Wire != "":
		at.Events = at.Op.Messages
		return at, true
	}
	if at.Response = at.Op.Response(ex.Response.Status); at.Response == nil {
		return at, false
	}
	if at.Media = FindMedia(at.Response.Media, ex.Response.Header.ContentType()); at.Media == nil || !at.Media.Type.IsStream() {
		return at, false
	}
	at.Events = at.Media.Events
	return at, true
}

// opening finds the exchange that carries a stream.
func opening(t *transcript.Transcript, s *transcript.Stream) (*transcript.Exchange, int) {
	for i := range t.Steps {
		if t.Steps[i].ID != s.Step {
			continue
		}
		for k, ex := range t.Steps[i].Exchanges {
			if ex.Stream == s.Name {
				return ex, k
			}
		}
	}
	return nil, 0
}
