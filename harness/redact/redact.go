// Package redact removes secrets from transcripts, before anything is judged, written or shown.
//
// A secret is replaced everywhere (header fields, paths, bodies, events, logs) by a text of the same form: the same
// length, a letter for a letter, a digit for a digit. The same secret always has the same replacement. So equal values
// stay equal, and ids keep their shape. The value of ${{ unique }}, which each target has for itself, is no secret: it
// stays inside a secret, and the rest is replaced as if it were the same on all targets. So judging a redacted
// transcript gives the same result as judging the original.
//
// A secret can be written in too many notations to search for each of them. Instead, texts are decoded, including
// nested notations, and a secret that is found in a decoded text is replaced there. The change is then written back in
// the original notation, with the same number of bytes.
package redact

import (
	"encoding/base64"
	"reflect"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/lockstep-dev/lockstep/harness/internal/archive"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// Rules say what is secret.
type Rules struct {
	Values  []string // secrets themselves
	Headers []string // header fields whose values are secret, in addition to the usual ones, ignoring case
	At      []string // JSONPaths (RFC 9535) of texts in bodies and events
}

// secretHeaders are the header fields whose values are secret in any API.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key"}

// minSecret is the minimum length of a secret that is searched for. Shorter ones would be found by chance.
const minSecret = 6

// Transcripts removes the secrets from what targets did in one scenario. It changes the transcripts.
func Transcripts(ts []*transcript.Transcript, rules *Rules) {
	f := collector{rules: rules, found: slices.Clone(rules.Values)}
	var public []string
	for _, t := range ts {
		f.transcript(t)
		if len(t.Unique) >= minSecret {
			public = append(public, t.Unique)
		}
	}
	r := NewReplacer(f.found, public...)
	if r == nil {
		return
	}
	for _, t := range ts {
		r.walk(reflect.ValueOf(t).Elem())
	}
}

// A collector collects the secrets of transcripts.
type collector struct {
	rules *Rules
	found []string
	paths []*jsonpath.Path
}

func (f *collector) transcript(t *transcript.Transcript) {
	for _, at := range f.rules.At {
		if path, err := jsonpath.Parse(at); err == nil { // checked when the rules were read
			f.paths = append(f.paths, path)
		}
	}
	for s := range t.AllSteps() {
		for _, x := range s.Exchanges {
			f.header(x.Request.Header)
			f.document(x.Request.Body.Bytes)
			if x.Response != nil {
				f.header(x.Response.Header)
				f.header(x.Response.Trailer)
				f.document(archive.Content(x.Response.Header.ContentType(), x.Response.Body.Bytes))
			}
		}
	}
	for _, s := range t.Streams {
		for i := range s.Events {
			f.document([]byte(s.Events[i].Data))
		}
	}
}

func (f *collector) header(h transcript.Header) {
	for _, field := range h {
		if transcript.ContainsName(secretHeaders, field.Name) || transcript.ContainsName(f.rules.Headers, field.Name) {
			f.found = append(f.found, secretsOf(field)...)
		}
	}
}

// secretsOf returns the secret parts of a header field: the credentials after a scheme (RFC 9110 §11.4), the password
// in those of Basic (RFC 7617 §2), the values of cookies (RFC 6265 §4), or else the whole value.
func secretsOf(field transcript.Field) []string {
	switch strings.ToLower(field.Name) {
	case "authorization", "proxy-authorization":
		if scheme, credentials, ok := strings.Cut(field.Value, " "); ok {
			out := []string{strings.TrimSpace(credentials)}
			if pair, err := base64.StdEncoding.DecodeString(out[0]); err == nil && strings.EqualFold(scheme, "Basic") {
				_, password, _ := strings.Cut(string(pair), ":")
				out = append(out, password)
			}
			return out
		}
	case "set-cookie":
		pair, _, _ := strings.Cut(field.Value, ";")
		_, value, _ := strings.Cut(pair, "=")
		return []string{strings.TrimSpace(value)}
	case "cookie":
		var out []string
		for pair := range strings.SplitSeq(field.Value, ";") {
			_, value, _ := strings.Cut(pair, "=")
			out = append(out, strings.TrimSpace(value))
		}
		return out
	}
	return []string{field.Value}
}

// document collects the texts at the paths of the rules.
func (f *collector) document(body []byte) {
	if len(f.paths) == 0 || len(body) == 0 {
		return
	}
	root, _, err := jsontree.Parse(body)
	if err != nil {
		return
	}
	for _, path := range f.paths {
		for _, value := range path.Select(root.Value()) {
			if text, ok := value.(string); ok {
				f.found = append(f.found, text)
			}
		}
	}
}

const statusPartial = 206

// walk replaces secrets in every text of a value. It copies what pointers and slices refer to, because that may belong
// to a scenario or be shared with another target.
func (r *Replacer) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			r.walk(own.Elem())
			v.Set(own)
		}
	case reflect.Struct:
		r.special(v.Addr().Interface())
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.walk(v.Field(i))
			}
		}
	case reflect.Slice:
		r.replaceSlice(v)
	case reflect.Map:
		r.replaceMap(v)
	case reflect.String:
		v.SetString(r.Text(r.withoutFile(v.String())))
	}
}

// special replaces what cannot be recognised from a single text of a value.
func (r *Replacer) special(v any) {
	switch v := v.(type) {
	case *transcript.Transcript:
		r.quoted(&v.Aborted)
		r.quoted(&v.Unusable)
		withholdCoded(v)
	case *transcript.Unmet:
		r.quoted(&v.What)
		r.quoted(&v.Why)
	case *transcript.Failure:
		r.quoted(&v.Text)
	case *transcript.Exchange:
		if v.Failure != nil {
			r.incomplete(v)
		}
	case *transcript.Response:
		r.body(&v.Header, &v.Body, v.Status == statusPartial)
	case *transcript.Request:
		r.body(&v.Header, &v.Body, false)
	}
}

func (r *Replacer) replaceSlice(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes(r.Bytes(v.Bytes()))
		return
	}
	if v.IsNil() {
		return
	}
	own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(own, v)
	for i := range own.Len() {
		r.walk(own.Index(i))
	}
	v.Set(own)
}

func (r *Replacer) replaceMap(v reflect.Value) {
	if v.IsNil() {
		return
	}
	own := reflect.MakeMapWithSize(v.Type(), v.Len())
	for _, key := range v.MapKeys() {
		item := reflect.New(v.Type().Elem()).Elem()
		item.Set(v.MapIndex(key))
		r.walk(item)
		name := reflect.New(key.Type()).Elem()
		name.Set(key)
		r.walk(name)
		own.SetMapIndex(name, item)
	}
	v.Set(own)
}
