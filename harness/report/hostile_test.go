package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/harness/contract/coverage"
	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/harness/report/jsonreport"
	"github.com/lockstep-dev/lockstep/harness/report/junit"
	"github.com/lockstep-dev/lockstep/harness/report/text"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// nasty are texts with a special meaning for a program that shows them.
var nasty = []string{
	"\x1b[31mred\x1b[0m", "\x1b]8;;http://evil\x07link\x1b]8;;\x07", "\x9b2J", "\u009b2J", "\r\n\v\f\b\t\x00\x07", "\x7f",
	"\u202eabc\u202c", "\u2066abc\u2069", "\u200b\u200d\ufeff\u2060", "\u2028\u2029\u0085",
	"]]>", "<script>alert(1)</script>", "--> <!-- <![CDATA[", "&amp;&#27;", `"'`, "\xff\xfe\xc3", "\xed\xa0\x80", "\ufffe\uffff\ufffd",
	"one\ntwo\x1b\nthree\n", strings.Repeat("e\u0301\u0302", 500), strings.Repeat("\x80", 2000), "\U000e0041\U0001f468\u200d\U0001f469",
	"", "—", "… [12 bytes cut]", "[99999999999999999999 bytes cut] …", "[1 bytes cut] …… [1 bytes cut]", strings.Repeat("x", 3000) + "… [9000 bytes cut]",
}

// fill sets every text of a value.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Map:
		if v.Type().Elem().Kind() != reflect.Int {
			return
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf(7))
	case reflect.String:
		switch v.Interface().(type) {
		case verdict.Verdict, verdict.Class, verdict.Blame, coverage.Messages, coverage.GateState: // lockstep sets these, and they decide what is shown
		default:
			v.SetString(text)
		}
	}
}

// colors are the only escape sequences that Text writes.
var colors = regexp.MustCompile("\x1b\\[(?:0|2|31|32|33)m")

// harmless returns what makes a text dangerous for a terminal; "" when it is safe.
func harmless(text []byte) string {
	if !utf8.Valid(text) {
		return "it is not UTF-8"
	}
	for _, r := range string(text) {
		if r != '\n' && !unicode.IsGraphic(r) {
			return "it has " + textfit.Visible(string(r))
		}
	}
	return ""
}

func TestNothingThatAServerSendsControlsATerminal(t *testing.T) {
	for _, run := range runs {
		for _, sent := range nasty {
			doc := run.doc()
			fill(reflect.ValueOf(doc), sent)
			for _, opts := range []text.Options{{}, {Verbose: true}, {Color: true}, {Color: true, Verbose: true}} {
				var b bytes.Buffer
				if err := errors.Join(text.Write(&b, doc, opts), text.WriteCoverage(&b, doc, opts), jsonreport.WriteCoverage(&b, doc)); err != nil {
					t.Fatal(err)
				}
				for i := range doc.Scenarios {
					text.WriteProgress(&b, opts, i, len(doc.Scenarios), &doc.Scenarios[i])
				}
				shown := b.Bytes()
				if opts.Color {
					shown = colors.ReplaceAll(shown, nil)
				}
				if why := harmless(shown); why != "" {
					t.Errorf("%s with %+q, %+v: %s", run.name, sent, opts, why)
				}
			}
		}
	}
}

func TestWhatAServerSendsIsNeitherMarkupNorControlInFiles(t *testing.T) {
	schema := compiled(t)
	for _, run := range runs[1:3] { // together, they have everything that a report can have
		for _, sent := range nasty {
			doc := run.doc()
			fill(reflect.ValueOf(doc), sent)
			b := written(t, doc)
			if why := harmless(b); why != "" {
				t.Errorf("JSON of %s with %+q: %s", run.name, sent, why)
			}
			var value any
			if err := json.Unmarshal(b, &value); err != nil {
				t.Errorf("JSON of %s with %+q: %v", run.name, sent, err)
			} else if err := schema.Validate(value); err != nil {
				t.Errorf("JSON of %s with %+q: %v", run.name, sent, err)
			}
			var x bytes.Buffer
			if err := junit.Write(&x, doc); err != nil {
				t.Fatal(err)
			}
			if why := harmless(x.Bytes()); why != "" {
				t.Errorf("JUnit of %s with %+q: %s", run.name, sent, why)
			}
			if err := dialect(x.Bytes()); err != nil {
				t.Errorf("JUnit of %s with %+q: %v", run.name, sent, err)
			}
		}
	}
}

func FuzzNothingIsExecuted(f *testing.F) {
	for i, sent := range nasty {
		f.Add(sent, nasty[(i+1)%len(nasty)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		doc := document(scenario("fuzz",
			step(3, "1", a, difference("value", b, a, a, b)),
			step(4, "2", b, shortfall("go", a, b, a, a+b, b+a)),
			step(5, "3", a, difference("body", "body", a, a+"\n"+b+"\n"+a, a+"\n"+a+"\n"+b, verdict.Remark{Target: "go", Place: a, Text: b})),
			step(6, "4", a, difference("body", "body", a, strings.Repeat(a, 100)+b, strings.Repeat(a, 100)+a)),
		))
		var plain, ci bytes.Buffer
		if err := errors.Join(text.Write(&plain, doc, text.Options{}), junit.Write(&ci, doc)); err != nil {
			t.Fatal(err)
		}
		for _, out := range [][]byte{plain.Bytes(), ci.Bytes(), written(t, doc)} {
			if why := harmless(out); why != "" {
				t.Errorf("%s in:\n%+q", why, out)
			}
		}
		if err := dialect(ci.Bytes()); err != nil {
			t.Error(err)
		}
	})
}

func TestMegabytesAreAFewLines(t *testing.T) {
	for _, tc := range []struct {
		name, unit string
		megabytes  int
	}{
		{"letters", "a", 10}, {"lines", "line\n", 10}, {"controls", "\x1b", 1}, {"accents", "\u0301", 1},
		{"no UTF-8", "\x80", 1}, {"wide", "\u7d4c", 1}, {"line ends", "\n", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			long := strings.Repeat(tc.unit, tc.megabytes<<20/len(tc.unit))
			doc := document(scenario("huge",
				step(3, "1", long, difference("body", long, long, long+"a"+long, long+"b"+long)),
				step(4, "2", "GET /", difference("body", "body", "the bodies differ", long, "short")),
				step(5, "3", "GET /", difference("body", "body", "the bodies differ", long, long+"!")),
				step(6, "4", "GET /", shortfall("go", "expectation", "body", long, long, "—")),
			))
			for _, format := range formats {
				if format.file == "report.json" {
					continue // this run has everything
				}
				var b bytes.Buffer
				if err := format.write(&b, doc); err != nil {
					t.Fatal(err)
				}
				if b.Len() > 20_000 {
					t.Errorf("%s has %d bytes", format.file, b.Len())
				}
			}
		})
	}
}
