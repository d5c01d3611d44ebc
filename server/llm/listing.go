package llm

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A listing says how to ask a provider for its models, and what its answer means (GA 10.20).
type listing struct {
	path     func(k given) string
	at       string // the member with the array
	name     string // the member of an item with the name of the model
	keep     func(item jsonwire.Text) bool
	show     func(name string, item jsonwire.Text) string
	unsorted bool
	refuses  bool // a member "error" is a failure
	retries  bool
	judge    func(err error) error // what the client learns of an error; nil is an empty list
}

// These errors say why there is no list of models (GA 10.15).
var (
	ErrRejected    = errors.New("the provider is unknown, not configured, or rejects the request")
	ErrRateLimited = errors.New("the provider has got too many requests")
)

var (
	errNoArray = errors.New("the answer has no list of models")
	errInside  = errors.New("the answer is an error")
)

// maxList is the maximum size of a list of models in bytes (decision G59).
const maxList = 16 << 20

// ListModels returns the names of a provider's models. It asks only providers that are built in (decision G59).
func (f *Factory) ListModels(ctx context.Context, name string) ([]string, error) {
	b := builtinOf(name)
	if b == nil {
		d, err := f.definition(name)
		if err != nil {
			return nil, ErrRejected
		}
		return namesOf(d.Models), nil
	}
	ready, err := b.isConfigured(f.Settings)
	switch {
	case err != nil:
		return nil, err
	case !ready:
		return nil, ErrRejected
	case b.list == nil:
		return []string{}, nil
	}
	if _, err := f.Config(b.model); err != nil {
		return nil, err
	}
	k, to, err := f.siteOf(b, nil)
	if err != nil {
		return nil, err
	}
	to.url += b.list.path(k)
	names, err := b.list.ask(ctx, f.caller(), to)
	if err != nil {
		return []string{}, b.list.judge(err)
	}
	return names, nil
}

func namesOf(models []api.ModelInfo) []string {
	names := make([]string, len(models))
	for i, model := range models {
		names[i] = model.Name
	}
	return names
}

// ask asks for the models. Its error is errNoArray, errInside or an [*Error].
func (l *listing) ask(ctx context.Context, c caller, to endpoint) (names []string, err error) {
	var answer jsonwire.Text
	try := func() (err error) {
		answer, err = c.get(ctx, to)
		return err
	}
	if l.retries {
		err = c.retry(ctx, to, try)
	} else {
		err = try()
	}
	if err != nil {
		return nil, err
	}
	return l.read(answer)
}

func (l *listing) read(answer jsonwire.Text) ([]string, error) {
	members := answer.Pick("error", l.at)
	if l.refuses && isSet(members[0]) {
		return nil, errInside
	}
	if members[1].Kind() != "array" {
		return nil, errNoArray
	}
	names := []string{}
	for _, item := range members[1].Elements() {
		name := item.Get(l.name)
		if name.Kind() != "string" || l.keep != nil && !l.keep(item) {
			continue
		}
		shown := name.Str()
		if l.show != nil {
			shown = l.show(shown, item)
		}
		names = append(names, shown)
	}
	if !l.unsorted {
		slices.Sort(names)
	}
	return names, nil
}

func isSet(value jsonwire.Text) bool { return value.Kind() != "undefined" && value.Kind() != "null" }

// get returns the JSON that a GET answers, or an [*Error].
func (c caller) get(ctx context.Context, to endpoint) (jsonwire.Text, error) {
	all, err := c.whole(ctx, to, nil, maxList)
	if err != nil {
		return nil, err
	}
	return parseGot(all)
}

// Get returns the JSON that a GET of an address answers, if it is no larger than a list of models. It sends no key, tries
// once, and does not read the body of a failure. [Reason] explains its error.
func Get(ctx context.Context, transport http.RoundTripper, address string, timeout time.Duration) (jsonwire.Text, error) {
	return caller{transport: transport}.get(ctx, endpoint{url: address, header: http.Header{}, timeout: timeout})
}

var byteOrderMark = []byte("\uFEFF")

// parseGot parses JSON as strictly as that of clients (decision G1).
func parseGot(text []byte) (jsonwire.Text, error) {
	parsed, err := parse(text)
	if err != nil || bytes.HasPrefix(text, byteOrderMark) {
		return nil, unreadable(err)
	}
	return parsed, nil
}

// openAIList is for OpenAI, and for definitions of the same kind.
var openAIList = &listing{
	path: func(k given) string { return listOfChats(below("OPENAI_BASE_PATH")(k)) },
	at:   "data", name: "id", refuses: true, retries: true, judge: judgeOpenAI,
}

// listOfChats replaces the path for chats by the path for models.
func listOfChats(url string) string {
	return strings.ReplaceAll(url, "v1/chat/completions", "v1/models")
}

func judgeOpenAI(err error) error {
	if errors.Is(err, errNoArray) || errors.Is(err, errInside) {
		return ErrRejected
	}
	return byStatus(err)
}

func judgeAnthropic(err error) error {
	if errors.Is(err, errNoArray) {
		return nil
	}
	return byStatus(err)
}

// byStatus returns the error for a status (GA 18.9).
func byStatus(err error) error {
	switch e, _ := errors.AsType[*Error](err); {
	case e != nil && e.Kind == Unauthorized:
		return ErrRejected
	case e != nil && e.Kind == RateLimited:
		return ErrRateLimited
	}
	return err
}

// judgeGoogle takes an error that Google explains for an empty list.
func judgeGoogle(err error) error {
	if errors.Is(err, errNoArray) {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok && e.said != nil {
		if _, wrong := parseGot(e.said); wrong == nil {
			return nil
		}
	}
	return err
}

func judgeRouter(err error) error {
	if errors.Is(err, errNoArray) {
		return ErrRejected
	}
	return nil
}

func judgeNothing(error) error { return nil }

func judgeStrictly(err error) error { return err }

func lastSegment(name string, _ jsonwire.Text) string {
	return name[strings.LastIndexByte(name, '/')+1:]
}

// isNoPattern leaves out the names of LiteLLM that stand for many models.
func isNoPattern(item jsonwire.Text) bool {
	return !strings.HasSuffix(item.Get("model_name").Str(), "/*")
}

func hasTools(item jsonwire.Text) bool {
	for _, parameter := range item.Get("supported_parameters").Elements() {
		if parameter.Str() == "tools" {
			return true
		}
	}
	return false
}

func isTrue(member string) func(item jsonwire.Text) bool {
	return func(item jsonwire.Text) bool { return string(item.Get(member)) == "true" }
}

// veniceFlags are the letters for what a model of Venice can do (GA 10.20).
var veniceFlags = []struct{ letter, capability string }{
	{"c", "optimizedForCode"}, {"v", "supportsVision"}, {"f", functionCalling}, {"s", "supportsResponseSchema"},
	{"w", "supportsWebSearch"}, {"r", "supportsReasoning"},
}

const functionCalling = "supportsFunctionCalling"

func callsFunctions(item jsonwire.Text) bool { return isTrue(functionCalling)(capabilities(item)) }

func capabilities(item jsonwire.Text) jsonwire.Text {
	return item.Get("model_spec").Get("capabilities")
}

func veniceName(name string, item jsonwire.Text) string {
	able, flags := capabilities(item), ""
	for _, flag := range veniceFlags {
		if isTrue(flag.capability)(able) {
			flags += flag.letter
		}
	}
	return name + " [" + flags + "]"
}
