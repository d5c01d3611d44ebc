package decode_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

func TestParseRefusesWhatIsNotJSON(t *testing.T) {
	for _, in := range []string{
		``, `{"a":`, "[1,\n", `"a`, `{} {}`, "{}x", "\uFEFF{}", "\"a\xffb\"", `"\ud800"`, `{"a":01}`, "{\n  'a': 1}", `[1,]`,
		"\"\t\"", deep("[", "]", 1),
	} {
		_, err := decode.Parse([]byte(in))
		if syntax := (*decode.SyntaxError)(nil); !errors.As(err, &syntax) || err.Error() != "invalid JSON" {
			t.Errorf("Parse(%.40q): %v, want invalid JSON", in, err)
		}
	}
	for _, in := range []string{deep("[", "]", 0), " \n{ } ", `{"a":1,"a":2}`, `"\ud83d\ude00"`, "-0.0e-7"} {
		if _, err := decode.Parse([]byte(in)); err != nil {
			t.Errorf("Parse(%.40q): %v", in, err)
		}
	}
}

func deep(open, end string, more int) string {
	return strings.Repeat(open, 9000+more) + strings.Repeat(end, 9000+more)
}

func TestFieldsAreFoundByTheirExactName(t *testing.T) {
	v, err := decode.Parse([]byte("\t{ \"n\\u0061me\" : \"x\\n\" , \"NAME\":1, \"list\" : [ 1 , -2 ] ,\r\n\"none\":null, \"any\":{\"b\": 1.0}, \"yes\":true }"))
	if err != nil {
		t.Fatal(err)
	}
	o := v.Object("name", "list", "none", "any", "yes", "missing")
	name, list, yes, anything := o.String("name"), decode.List(o, "list", decode.Value.Int), o.Bool("yes"), o.Any("any")
	if name != "x\n" || len(list) != 2 || list[1] != -2 || !yes || string(anything) != `{"b":1.0}` {
		t.Errorf("read %q, %d, %t, %s", name, list, yes, anything)
	}
	if o.MaybeString("none") != nil || o.MaybeInt("missing") != nil || o.MaybeObject("none") != nil {
		t.Error("a field that is missing or null was read")
	}
	if err := o.Err(); err != nil {
		t.Errorf("Err: %v", err)
	}
}

func TestTheFirstMistakeStays(t *testing.T) {
	v, err := decode.Parse([]byte(`{"a":[{"b":-1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	o := v.Object("a", "c")
	list := decode.List(o, "a", func(v decode.Value) (int64, error) {
		inner := v.Object("b")
		return decode.Field(inner, "b", decode.Natural), inner.Err()
	})
	if list != nil || o.String("c") != "" || o.MaybeBool("a") != nil {
		t.Error("something was read after a mistake")
	}
	if got, want := o.Err().Error(), "a[0].b: invalid value: integer out of range at line 1 column 13"; got != want {
		t.Errorf("Err: %s\nwant %s", got, want)
	}
}

// FuzzParse compares Parse with encoding/json, and walks what it accepts.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.50,{"b":"\u0000","b":null}] , "a" : "x" }`, "[ ]", `{"":{}}`, "\"\\ud800\"", "{} "} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := decode.Parse(in)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		if !json.Valid(in) {
			t.Fatalf("Parse accepts %q, which is not JSON", in)
		}
		walk(t, v)
		if any := v.Any(); !json.Valid(any) {
			t.Fatalf("Any of %q is %q, which is not JSON", in, any)
		}
	})
}

func walk(t *testing.T, v decode.Value) {
	if err := v.Fail("x"); !strings.Contains(err.Error(), "x at line ") {
		t.Fatalf("Fail: %v", err)
	}
	o := v.Object("a", "b", "")
	for _, name := range []string{"a", "b", ""} {
		if field, ok := o.Maybe(name); ok {
			walk(t, field)
		}
	}
	if elements, err := v.Array(); err == nil {
		for element := range elements {
			walk(t, element)
		}
	}
}

func TestTimesAreThoseOfRFC3339(t *testing.T) {
	for text, want := range map[string]string{
		"2025-12-10T16:59:31Z":                "2025-12-10 16:59:31 +0000 UTC",
		"2025-12-10 16:59:31z":                "2025-12-10 16:59:31 +0000 UTC",
		"2025-12-10t16:59:31.123456789-01:30": "2025-12-10 18:29:31.123456789 +0000 UTC",
		"2025-12-10T16:59:31.1234567899Z":     "2025-12-10 16:59:31.123456789 +0000 UTC",
		"2025-12-10T16:59:31":                 "",
		"2025-12-10T16:59:31,5Z":              "",
		"2025-02-30T16:59:31Z":                "",
		"2025-12-10T23:59:60Z":                "",
		"2025-12-10":                          "",
		"":                                    "",
		"2025-12-10T16:59:31+0100":            "",
		"12025-12-10T16:59:31Z":               "",
		"2025-12-10T16:59:31+23:59":           "2025-12-09 17:00:31 +0000 UTC",
		"2025-12-10T16:59:31+24:00":           "",
		"2025-12-10T16:59:31+01:60":           "",
		"0000-01-01T00:00:00Z":                "0000-01-01 00:00:00 +0000 UTC",
		"0000-01-01T00:00:00+00:01":           "", // cannot be written in UTC
		"9999-12-31T23:59:59-00:01":           "",
	} {
		v, err := decode.Parse([]byte(`"` + text + `"`))
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode.Time(v)
		if (err != nil) != (want == "") || err == nil && got.String() != want {
			t.Errorf("%q is %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestMapsHaveTheLastValueOfEachName(t *testing.T) {
	decoder := decode.MapOf(decode.MapOf(decode.Natural))
	for text, want := range map[string]string{
		`{"a":{"x":1,"y":2,"x":3},"b":{},"a":{"z":4}}`: `{"a":{"z":4},"b":{}}`,
		`{}`:                   `{}`,
		`[]`:                   "invalid type: array, expected an object at line 1 column 2",
		`{"a":null}`:           "a: invalid type: null, expected an object at line 1 column 9",
		`{"a":{"x":-1,"x":1}}`: "a.x: invalid value: integer out of range at line 1 column 12",
	} {
		got, err := decode.Text([]byte(text), decoder)
		said, _ := json.Marshal(got)
		if err != nil {
			said = []byte(err.Error())
		}
		if string(said) != want {
			t.Errorf("%s: %s, want %s", text, said, want)
		}
	}
}
