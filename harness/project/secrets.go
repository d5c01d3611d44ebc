package project

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/redact"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// A header field of a target refers to a variable as ${{ env.NAME }}.
const envOpening, envClosing, EnvPrefix = "${{", "}}", "env."

// expandVariables replaces ${{ env.NAME }} in a text.
func expandVariables(text string, value func(name string) (string, error)) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, envOpening)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		inside, after, closed := strings.Cut(rest, envClosing)
		name, ok := strings.CutPrefix(strings.TrimSpace(inside), EnvPrefix)
		if !closed || !ok {
			return "", fmt.Errorf("%q is not a variable", envOpening+rest)
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		out.WriteString(v)
		text = after
	}
}

// FillVariables inserts the values of variables into the header fields of targets, and into the values for their
// commands.
func FillVariables(targets []Target, environ []string) error {
	for i := range targets {
		t := &targets[i]
		lookUp := func(does, name string) (string, error) {
			if v, ok := lookupVariable(environ, name); ok && v != "" {
				return v, nil
			}
			return "", &UsageError{
				fmt.Sprintf("target %q %s, but the variable %s is not set", t.Spec.Name, does, name), "set it in lockstep's environment",
			}
		}
		t.Header = slices.Clone(t.Header)
		for k, field := range t.Header {
			v, err := expandVariables(field.Value, func(name string) (string, error) { return lookUp("sends "+field.Name, name) })
			if err != nil {
				return err
			}
			t.Header[k].Value = v
		}
		t.Spec.Values = maps.Clone(t.Spec.Values)
		for _, name := range t.Spec.Names() {
			variable, ok := strings.CutPrefix(name, EnvPrefix)
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

func lookupVariable(environ []string, name string) (string, bool) {
	for i := len(environ) - 1; i >= 0; i-- { // the last one counts
		if value, ok := strings.CutPrefix(environ[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// values returns the values of the secret variables.
func (s *Secrets) values(environ []string) []string {
	var out []string
	for _, name := range s.Env {
		if v, ok := lookupVariable(environ, name); ok {
			out = append(out, v)
		}
	}
	return out
}

// Cover returns a writer that removes the project's secrets from lines that are shown during a run.
func (p *Project) Cover(w io.Writer, environ []string) io.Writer {
	return redact.NewReplacer(p.Secrets.values(environ)).Writer(w)
}

// Redact removes the secrets from what targets did.
func (s *Secrets) Redact(ts []*transcript.Transcript, environ []string) {
	redact.Transcripts(ts, &redact.Rules{Values: s.values(environ), Headers: s.Headers, At: s.At})
}
