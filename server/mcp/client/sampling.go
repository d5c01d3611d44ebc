package client

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/engine/toolbox"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// sample asks the model, on behalf of the oldest running call (decisions X9, X23 to X25).
func (x *Client) sample(params json.RawMessage) (json.RawMessage, error) {
	question, err := samplingOf(params)
	if err != nil {
		return nil, rpcError(jsonrpc.CodeInvalidParams, unreadableSampling)
	}
	r := x.running.first()
	if r == nil {
		return nil, rpcError(jsonrpc.CodeInternalError, noTool)
	}
	said, err := r.Sample(r.ctx, question)
	if err != nil {
		return nil, rpcError(jsonrpc.CodeInternalError, err)
	}
	w := jsonwire.NewWriter(nil)
	w.Raw([]byte(`{"role":"assistant","content":{"type":"text","text":`))
	w.String(said.Text)
	w.Close('}')
	w.Name("model").String(said.Model)
	w.Name("stopReason").String("endTurn")
	w.Close('}')
	return json.RawMessage(w.Text()), nil
}

const unreadableSampling = mcperror.Reason("The sampling request cannot be read")

var errSampling = errors.New("not what a sampling request has")

// samplingOf parses a request (decision X24). Its error does not say what is wrong.
func samplingOf(params json.RawMessage) (s toolbox.Sampling, err error) {
	v, err := decode.Parse(params)
	if err != nil {
		return s, err
	}
	o := v.Object("messages", "systemPrompt", "maxTokens", "temperature")
	s.Messages = decode.List(o, "messages", decodeSampled)
	s.MaxTokens = decode.Field(o, "maxTokens", maxTokensOf)
	if system := o.MaybeString("systemPrompt"); system != nil {
		s.System = *system
	}
	if temperature := decode.MaybeField(o, "temperature", decode.Value.Number); temperature != nil {
		s.Temperature = *temperature
	}
	if o.Err() == nil && len(s.Messages) == 0 {
		return s, errSampling
	}
	return s, o.Err()
}

// maxTokensOf decodes an integer by value (decision S9).
func maxTokensOf(v decode.Value) (int64, error) {
	n, ok := jsonwire.Text(v.Any()).Integer()
	if !ok || n < 1 || n > math.MaxInt32 {
		return 0, errSampling
	}
	return n, nil
}

// decodeSampled decodes a message. Its content is one item or a list.
func decodeSampled(v decode.Value) (message.Message, error) {
	o := v.Object("role", "content")
	m := message.Message{Role: message.Role(o.OneOf("role", string(message.User), string(message.Assistant)))}
	content, there := o.Need("content")
	if !there {
		return m, o.Err()
	}
	items, err := content.Array()
	if err != nil { // a single item
		items = func(yield func(decode.Value) bool) { yield(content) }
	}
	for item := range items {
		decoded, err := decodeSampledItem(item)
		if err != nil {
			return m, err
		}
		m.Content = append(m.Content, decoded)
	}
	return m, o.Err()
}

func decodeSampledItem(v decode.Value) (message.Content, error) {
	kind, err := decode.Tag(v, "type", "text", "image")
	if err != nil {
		return nil, err
	}
	if kind == "text" {
		o := v.Object("text")
		return message.Text{Text: o.String("text")}, o.Err()
	}
	o := v.Object("data", "mimeType")
	return message.Image{Data: o.String("data"), MIMEType: o.String("mimeType")}, o.Err()
}
