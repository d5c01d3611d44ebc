package client

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// take handles a server's messages while its tools run. It must not block, because answers follow on the same
// connection.
func (x *Client) take(request *jsonrpc.Request) (taken bool, err error) {
	switch request.Method {
	case "notifications/message":
		x.running.notify(request.Method, logged(request.Params))
	case "notifications/progress":
		x.running.notify(request.Method, progressed(request.Params))
	case "elicitation/create":
		err = x.questions.answer(request, x.elicit)
	case "sampling/createMessage":
		err = x.questions.answer(request, x.sample)
	default:
		return false, nil
	}
	return true, err
}

// logged returns the parameters of a log message (decision X8), or nil if they are invalid.
func logged(params json.RawMessage) json.RawMessage {
	return selected(params, func(o *decode.Object) {
		o.String("level")
		o.Any("data")
		o.MaybeString("logger")
	}, "level", "logger", "data", "_meta")
}

// progressed returns the parameters of a progress notification, or nil if they are invalid.
func progressed(params json.RawMessage) json.RawMessage {
	return selected(params, func(o *decode.Object) {
		decode.Field(o, "progressToken", progressToken)
		decode.Field(o, "progress", decode.Value.Number)
		decode.MaybeField(o, "total", decode.Value.Number)
		o.MaybeString("message")
	}, "progressToken", "progress", "total", "message", "_meta")
}

// progressToken decodes a string or an integer (ProgressToken of the contract).
func progressToken(v decode.Value) (string, error) {
	if _, err := v.Int(); err == nil {
		return "", nil
	}
	return v.Str()
}

// selected returns an object with the named members in this order, without null members except data. It returns nil
// if the check fails.
func selected(params json.RawMessage, check func(o *decode.Object), names ...string) json.RawMessage {
	v, err := decode.Parse(params)
	if err != nil {
		return nil
	}
	o := v.Object(names...)
	check(o)
	o.MaybeObject("_meta")
	if o.Err() != nil {
		return nil
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	for _, name := range names {
		if value := o.Get(name); name == "data" || !value.IsNull() {
			w.Name(name).Raw(value.Any())
		}
	}
	w.Close('}')
	return json.RawMessage(w.Text())
}
