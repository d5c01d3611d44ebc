package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
)

// A Replacer replaces secrets by texts that are made like them.
type Replacer struct {
	needles  [][]byte
	replacer *strings.Replacer
}

// NewReplacer returns a replacer of these secrets; nil when none of them is long enough to be looked for.
func NewReplacer(secrets []string) *Replacer {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one that begins with another comes before it
	r := &Replacer{}
	var pairs []string
	seen := map[string]bool{}
	for _, secret := range secrets {
		if len(secret) < shortest {
			continue
		}
		stand := alias(secret)
		for i, written := range writings(secret) {
			if !seen[written] {
				seen[written] = true
				pairs = append(pairs, written, writings(stand)[i])
				r.needles = append(r.needles, []byte(written))
			}
		}
	}
	if pairs == nil {
		return nil
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

// Text returns a text without secrets. A nil Replacer returns it as it is.
func (r *Replacer) Text(s string) string {
	if r == nil {
		return s
	}
	return r.replacer.Replace(s)
}

// in reports whether bytes hold a secret.
func (r *Replacer) in(b []byte) bool {
	return slices.ContainsFunc(r.needles, func(n []byte) bool { return bytes.Contains(b, n) })
}

// Writer returns a writer without secrets, for what is written in whole lines. A nil Replacer returns the writer itself.
func (r *Replacer) Writer(w io.Writer) io.Writer {
	if r == nil {
		return w
	}
	return writer{r, w}
}

type writer struct {
	r *Replacer
	w io.Writer
}

func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.r.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// writings returns the ways in which a text is written in messages, each in the same place of the list for all texts.
func writings(s string) []string {
	quoted, _ := json.Marshal(s)
	plain := string(quoted[1 : len(quoted)-1])
	encode := base64.StdEncoding.WithPadding(base64.NoPadding).EncodeToString
	return []string{
		s, plain, strings.ReplaceAll(plain, "/", `\/`), url.QueryEscape(s), url.PathEscape(s),
		encode([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)),
	}
}
