package harness

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/redact"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/problem"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Secrets say what must be in no report, no run file and no line of a terminal.
type Secrets struct {
	Env     []string // variables of lockstep's environment; a target's headers may name them: ${{ env.API_KEY }}
	Headers []string // header fields, beside the usual ones
	At      []string // JSONPaths of texts in bodies and events
}

// What stands around the name of a variable in a header field of a target, and before it.
const envOpening, envClosing, envPrefix = "${{", "}}", "env."

func (l *loader) secrets(n *yamldoc.Node) {
	s := &l.p.Secrets
	for key, list := range map[string]*[]string{"env": &s.Env, "headers": &s.Headers, "at": &s.At} {
		for _, item := range n.Get(key).Elements() {
			*list = append(*list, item.Text)
			if key != "at" {
				continue
			}
			if _, err := jsonpath.Parse(item.Text); err != nil {
				l.problem(item, fmt.Sprintf("%q is no JSONPath: %v", item.Text, err), "write a path such as $..apiKey (RFC 9535)")
			}
		}
	}
}

// variables checks the variables that a target's header field names.
func (l *loader) variables(n *yamldoc.Node) {
	_, err := expand(n.Text, func(name string) (string, error) {
		if !slices.Contains(l.p.Secrets.Env, name) {
			return "", fmt.Errorf("the variable %s is not among the secrets of this file", name)
		}
		return "", nil
	})
	if err != nil {
		l.problem(n, err.Error(), "add it to secrets: {env: […]}, so that its value is in no report, and write ${{ env.NAME }}; "+problem.OneOf("", l.p.Secrets.Env))
	}
}

// expand replaces ${{ env.NAME }} in a text.
func expand(text string, value func(name string) (string, error)) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, envOpening)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		inside, after, closed := strings.Cut(rest, envClosing)
		name, ok := strings.CutPrefix(strings.TrimSpace(inside), envPrefix)
		if !closed || !ok {
			return "", fmt.Errorf("%q is no variable", envOpening+rest)
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		out.WriteString(v)
		text = after
	}
}

// furnish puts the values of variables into the header fields of targets, and among what is put into their commands.
func furnish(targets []Target, environ []string) error {
	for i := range targets {
		t := &targets[i]
		lookUp := func(does, name string) (string, error) {
			if v, ok := variable(environ, name); ok && v != "" {
				return v, nil
			}
			return "", &UsageError{
				fmt.Sprintf("target %q %s, and the variable %s is not set", t.Spec.Name, does, name), "set it in the environment of lockstep",
			}
		}
		t.Header = slices.Clone(t.Header)
		for k, field := range t.Header {
			v, err := expand(field.Value, func(name string) (string, error) { return lookUp("sends "+field.Name, name) })
			if err != nil {
				return err
			}
			t.Header[k].Value = v
		}
		t.Spec.Values = maps.Clone(t.Spec.Values)
		for _, name := range t.Spec.Names() {
			variable, ok := strings.CutPrefix(name, envPrefix)
			if !ok {
				continue
			}
			v, err := lookUp("is started with ${{ "+name+" }}", variable)
			if err != nil {
				return err
			}
			t.Spec.Values[name] = v
		}
	}
	return nil
}

func variable(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- { // the last one holds
		if value, ok := strings.CutPrefix(environ[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// values are what the variables of the secrets hold.
func (s *Secrets) values(environ []string) []string {
	var out []string
	for _, name := range s.Env {
		if v, ok := variable(environ, name); ok {
			out = append(out, v)
		}
	}
	return out
}

// Cover returns a writer that the project's secrets do not pass, for lines that are shown while a run is under way.
func (p *Project) Cover(w io.Writer, environ []string) io.Writer {
	return redact.NewReplacer(p.Secrets.values(environ)).Writer(w)
}

// redact takes the secrets out of what targets did.
func (e *execution) redact(ts []*transcript.Transcript) {
	s := &e.project.Secrets
	redact.Transcripts(ts, &redact.Rules{Values: s.values(e.opts.Environ), Headers: s.Headers, At: s.At})
}
