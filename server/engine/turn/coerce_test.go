package turn_test

import (
	"testing"

	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

func TestWhichArgumentsAreConverted(t *testing.T) {
	for given, want := range map[string]string{
		`{"n":"5"}`: `{"n":5}`, `{"n":"-5"}`: `{"n":-5}`, `{"n":"5.0"}`: `{"n":"5.0"}`, `{"n":"1e3"}`: `{"n":"1e3"}`, `{"n":" 5"}`: `{"n":" 5"}`,
		`{"n":"05"}`: `{"n":"05"}`, `{"n":"+5"}`: `{"n":"+5"}`, `{"n":""}`: `{"n":""}`, `{"n":"true"}`: `{"n":"true"}`, `{"n":[1]}`: `{"n":[1]}`,
		`{"f":"1.50"}`: `{"f":1.50}`, `{"f":"1e3"}`: `{"f":1e3}`, `{"f":"NaN"}`: `{"f":"NaN"}`, `{"f":"0x1"}`: `{"f":"0x1"}`,
		`{"b":"true"}`: `{"b":true}`, `{"b":"False"}`: `{"b":"False"}`, `{"b":"1"}`: `{"b":"1"}`,
		`{"s":"5"}`: `{"s":"5"}`, `{"x":"5"}`: `{"x":"5"}`, `{}`: `{}`,
	} {
		timeless(t, func(t *testing.T) {
			r := newRig(t, echoing(), says(llmtest.Calls("c1", "dev__echo", given), llmtest.Says("c2", "Done.")))
			same(t, given, "u * result:call_1:echo"+want+" 27", r.reply(user("hi"))[1])
		})
	}
}
