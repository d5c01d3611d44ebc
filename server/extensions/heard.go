package extensions

import (
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/decode"
	"github.com/lockstep-dev/lockstep/server/jsonwire"
	"github.com/lockstep-dev/lockstep/server/reply"
)

func (x *client) begin(r *running) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = append(x.running, r)
}

func (x *client) finish(r *running) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = slices.DeleteFunc(x.running, func(other *running) bool { return other == r })
}

// hear takes what a server says while its tools run. It must not wait: answers come behind it.
func (x *client) hear(request *jsonrpc.Request) (taken bool, err error) {
	switch request.Method {
	case "notifications/message":
		x.notify(request.Method, logged(request.Params))
	case "notifications/progress":
		x.notify(request.Method, progressed(request.Params))
	case "elicitation/create":
		err = x.answer(request, x.elicit)
	case "sampling/createMessage":
		err = x.answer(request, x.sample)
	default:
		return false, nil
	}
	return true, err
}

// notify passes a notification to all calls that run (GA 18.4).
func (x *client) notify(method string, params json.RawMessage) {
	if params == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.running {
		r.Notify(reply.Notification{Method: method, Params: params})
	}
}

// logged returns the parameters of a log message (decision X8), nil if they are no such.
func logged(params json.RawMessage) json.RawMessage {
	return selected(params, func(o *decode.Object) {
		o.String("level")
		o.Any("data")
		o.MaybeString("logger")
	}, "level", "logger", "data", "_meta")
}

// progressed returns the parameters of a progress notification, nil if they are no such.
func progressed(params json.RawMessage) json.RawMessage {
	return selected(params, func(o *decode.Object) {
		decode.Field(o, "progressToken", progressToken)
		decode.Field(o, "progress", decode.Value.Number)
		decode.MaybeField(o, "total", decode.Value.Number)
		o.MaybeString("message")
	}, "progressToken", "progress", "total", "message", "_meta")
}

// progressToken reads a text or an integer (ProgressToken of the contract).
func progressToken(v decode.Value) (string, error) {
	if _, err := v.Int(); err == nil {
		return "", nil
	}
	return v.Str()
}

// selected returns an object with these members in this order, without those that are null, save data. It is nil if the
// check fails.
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
			w.Name(name)
			w.Raw(value.Any())
		}
	}
	w.Close('}')
	return json.RawMessage(w.Text())
}

// answer answers a request of the server when there is something to say. If too many are waiting it is refused; the error
// is that of [client.refuse].
func (x *client) answer(request *jsonrpc.Request, find func(params json.RawMessage) (json.RawMessage, error)) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ended {
		return closed
	}
	select {
	case x.places <- struct{}{}:
	default:
		return x.refuse(request.ID)
	}
	x.asking.Go(func() {
		defer func() { <-x.places }()
		result, err := find(request.Params)
		_ = x.tap.Connection.Write(x.ctx, &jsonrpc.Response{ID: request.ID, Result: result, Error: err})
	})
	return nil
}

// answerApart answers a request that comes outside of answers. All that the library would answer is a ping.
func answerApart(method string) func(json.RawMessage) (json.RawMessage, error) {
	return func(json.RawMessage) (json.RawMessage, error) {
		if method == "ping" {
			return json.RawMessage("{}"), nil
		}
		return nil, rpcError(jsonrpc.CodeMethodNotFound, reason("Method not found: "+method))
	}
}

// elicit asks the user, for the call that began first (decision X9).
func (x *client) elicit(params json.RawMessage) (json.RawMessage, error) {
	v, err := decode.Parse(params)
	if err != nil {
		return nil, rpcError(jsonrpc.CodeInvalidParams, err)
	}
	o := v.Object("mode", "message", "requestedSchema")
	if mode := o.MaybeString("mode"); mode != nil && *mode != "form" {
		return nil, rpcError(jsonrpc.CodeInvalidParams, onlyForms)
	}
	text, schema := o.String("message"), o.AnyObject("requestedSchema")
	if err := o.Err(); err != nil {
		return nil, rpcError(jsonrpc.CodeInvalidParams, err)
	}
	r := x.first()
	if r == nil {
		return nil, rpcError(jsonrpc.CodeInternalError, noTool)
	}
	said, err := r.Elicit(r.ctx, text, schema)
	if err != nil {
		return nil, rpcError(jsonrpc.CodeInternalError, err)
	}
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("action")
	w.String("accept")
	w.Name("content")
	w.Raw(said)
	w.Close('}')
	return json.RawMessage(w.Text()), nil
}

// first returns the call that began first of those that run, nil if none does.
func (x *client) first() *running {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.running) == 0 {
		return nil
	}
	return x.running[0]
}
