package llm

import (
	"strings"
	"unicode"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// venice is the format of Venice.ai: chat completions of which every content is a string, and without options (decision
// M77). It does not stream.
type venice struct{ chat }

// model returns the name of a model without the flags that lists of models add.
func (venice) model(config ModelConfig) string {
	if i := strings.IndexFunc(config.ModelName, unicode.IsSpace); i >= 0 {
		return config.ModelName[:i]
	}
	return config.ModelName
}

func (v venice) body(config ModelConfig, r Request, _ bool) jsonwire.Text {
	w := jsonwire.NewWriter(nil)
	w.Open('{')
	w.Name("model").String(v.model(config))
	writeChatMessages(w, "system", r, contentForm{plain: true})
	w.Raw([]byte(`"stream":false,"temperature":0.7,"max_tokens":2048`))
	writeChatTools(w, r.Tools, false)
	w.Close('}')
	return w.Text()
}

// explainVenice returns the text for a failure that says that a model cannot call tools.
func explainVenice(said []byte, model string) string {
	answer, err := parse(said)
	if err != nil {
		return ""
	}
	withoutTools := strings.Contains(string(answer.Get("details").Get("tools").Get("_errors")), "not supported by this model")
	for _, issue := range answer.Get("context").Get("issues").Elements() {
		withoutTools = withoutTools || strings.Contains(issue.Get("message").Str(), "tools is not supported by this model")
	}
	if !withoutTools {
		return ""
	}
	return "The selected model '" + model + "' does not support tool calls. Please select a model that supports tools, such as " +
		"'llama-3.3-70b' or 'mistral-31-24b'."
}
