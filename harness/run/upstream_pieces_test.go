package run

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// pieces returns the texts of an OpenAI stream, and the fragments of the arguments of its calls.
func pieces(body []byte) (texts, arguments []string) {
	for line := range strings.Lines(string(body)) {
		var chunk struct {
			Choices []struct {
				Delta struct {
					Role      string  `json:"role"` // in the first chunk
					Content   *string `json:"content"`
					ToolCalls []struct {
						Function struct {
							Arguments *string `json:"arguments"`
						} `json:"function"`
					} `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		data, _ := strings.CutPrefix(line, "data: ")
		if json.Unmarshal([]byte(data), &chunk) != nil {
			continue
		}
		for _, c := range chunk.Choices {
			if text := c.Delta.Content; text != nil && c.Delta.Role == "" {
				texts = append(texts, *text)
			}
			for _, call := range c.Delta.ToolCalls {
				if call.Function.Arguments != nil {
					arguments = append(arguments, *call.Function.Arguments)
				}
			}
		}
	}
	return texts, arguments
}

// A text that is exactly one expression has the expression's value. A list is streamed item by item, as if it were
// written in the scenario.
func TestAListInTheValueOfATextIsItsPieces(t *testing.T) {
	for _, tc := range []struct {
		name, value, answer string
		texts, arguments    []string
		fault               string
	}{
		{"a text", "abc", `{text: "${{ said }}"}`, []string{"abc"}, nil, ""},
		{"a list", `[a, "", " b "]`, `{text: "${{ said }}"}`, []string{"a", "", " b "}, nil, ""},
		{"a list of other values", `[1.0, null, {a: [b]}]`, `{text: "${{ said }}"}`, []string{"1.0", "null", `{"a":["b"]}`}, nil, ""},
		{"another value", `{a: [b]}`, `{text: "${{ said }}"}`, []string{`{"a":["b"]}`}, nil, ""},
		{"null", `null`, `{text: "${{ said }}"}`, []string{"null"}, nil, ""},
		{"in a longer text", `[a, b]`, `{text: "so: ${{ said }}"}`, []string{`so: ["a","b"]`}, nil, ""},
		{"in a list, each is one piece", `[a, b]`, `{text: ["${{ said }}", c]}`, []string{`["a","b"]`, "c"}, nil, ""},
		{"in a piece", `[a, b]`, `{pieces: [{text: "${{ said }}"}]}`, []string{`["a","b"]`}, nil, ""},
		{"arguments", `['{"a"', ':1}']`, `{tools: [{tool: x, arguments: "${{ said }}"}]}`, nil, []string{"", `{"a"`, ":1}"}, ""},
		{"arguments in one", `'{"a":1}'`, `{tools: [{tool: x, arguments: "${{ said }}"}]}`, nil, []string{"", `{"a":1}`}, ""},
		{"a list without an item", `[]`, `{text: "${{ said }}"}`, nil, nil, `the rule "1": said is a list without an item`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := `
vars: {said: ` + tc.value + `}
stubs: {llm: [{answer: ` + tc.answer + `}]}
steps:
  - {http: POST /a, json: {model: "${{ unique }}", stream: true}}
`
			inquire(t, text, [2]time.Duration{}, func(t *testing.T, ref, _ *transcript.Transcript, _ time.Duration) {
				texts, arguments := pieces(ref.Steps[0].Exchanges[0].Response.Body.Bytes)
				if diff := cmp.Diff([2][]string{tc.texts, tc.arguments}, [2][]string{texts, arguments}); diff != "" {
					t.Errorf("texts and arguments (-want +got):\n%s\n%s", diff, ref.Steps[0].Exchanges[0].Response.Body.Bytes)
				}
				if got := ref.Upstream[0].Fault; got != tc.fault {
					t.Errorf("fault: %q, want %q", got, tc.fault)
				}
			})
		})
	}
}
