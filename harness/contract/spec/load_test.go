package spec

import (
	"reflect"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

var documents = []string{"../../../openapi.yaml", "../../../internal/faux/project/openapi.yaml", "../../../examples/notes/openapi.yaml"}

func TestPlainDocumentsAreReadAsTheLoaderReadsThem(t *testing.T) {
	for _, file := range documents {
		data := testfile.Read(t, file)
		got, err := loadPlain(newSource(data))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		want, err := newLoader().LoadFromData(data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the loader reads something else", file)
		}
	}
}

func TestPlainValuesAreReadAsTheLoaderReadsThem(t *testing.T) {
	plain := 0
	for _, value := range []string{
		"1", "1.0", "1.50", "-0", "1e3", "1E400", "0x1F", "017", "0o17", "1_000", ".5", "5.", "+1", ".inf", ".nan",
		"9007199254740993", "18446744073709551616", "true", "True", "TRUE", "yes", "on", "no", "null", "Null", "~", "",
		"2026-03-01", "2026-03-01T12:00:00Z", "12:30", "\"1\"", "'true'", "!!str 1", "!!int \"1\"", "&a 1", "[&a 1, *a]",
		"{a: 1, b: [x, null, {c: }]}", "{a: 1, a: 2}", "{1: a, 200: b}", "{0x10: a}", "{1.5: a}", "{true: a}", "{null: a}",
		"{2026-03-01: a}", "{? [a] : 1}", "{<<: {a: 1}}", "{\"\": 1}", "\"\\u00e9\\n\\x41\\/\"", "|\n  two\n  lines\n", ">-\n  a\n\n  b\n",
		"a: b: c", "[", "{$ref: x}", "é",
	} {
		data := []byte("openapi: 3.0.3\nx-value: " + value + "\n")
		got, err := loadPlain(newSource(data))
		if err != nil {
			continue
		}
		plain++
		want, err := newLoader().LoadFromData(data)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %v; the loader reads %v %v", value, got.Extensions, want, err)
		}
	}
	if plain < 20 {
		t.Errorf("only %d of these values are plain", plain)
	}
}

// The loader, which reads YAML 1.1, would change one of these values and reject the others.
func TestPlainValuesAreReadAsYAML12(t *testing.T) {
	for value, want := range map[string]string{`"\ud83d\ude00"`: "😀", "a\u2028b": "a\u2028b", "'a\u0085b'": "a\u0085b"} {
		got, err := loadPlain(newSource([]byte("openapi: 3.0.3\nx-value: " + value + "\n")))
		if err != nil || got.Extensions["x-value"] != want {
			t.Errorf("%+q is read as %v (%v), want %+q", value, got, err, want)
		}
	}
}
