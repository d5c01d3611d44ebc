package transcript

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON cannot hold bytes that are not UTF-8, and encoding/json replaces them. So the line of a transcript also has the
// texts with such bytes in base64, by their JSON Pointers.

// nonUTF8Texts returns the texts of a transcript that are not UTF-8, without those that fields and events encode
// themselves.
func nonUTF8Texts(t *Transcript) map[string][]byte {
	var out map[string][]byte
	w := textWalk{visit: func(w *textWalk, text string) string {
		if !utf8.ValidString(text) {
			if out == nil {
				out = map[string][]byte{}
			}
			out[w.pointer()] = []byte(text)
		}
		return text
	}}
	w.walk(reflect.ValueOf(t))
	return out
}

// restoreTexts restores the texts that nonUTF8Texts returned.
func restoreTexts(t *Transcript, odd map[string][]byte) error {
	if len(odd) == 0 {
		return nil
	}
	put := 0
	w := textWalk{visit: func(w *textWalk, text string) string {
		if bytes, ok := odd[w.pointer()]; ok {
			put++
			return string(bytes)
		}
		return text
	}}
	w.walk(reflect.ValueOf(t))
	if put != len(odd) {
		return fmt.Errorf("%d of its texts stand where the transcript of %s has none", len(odd)-put, t.Scenario)
	}
	return nil
}

// A textWalk visits the texts in a value, and replaces each of them by the result of visit.
type textWalk struct {
	visit func(w *textWalk, text string) string
	at    []place // the place of the current value
}

// A place is a member of an object or an element of a list.
type place struct {
	name  string
	index int
}

func (w *textWalk) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if was := v.String(); v.CanSet() {
			if text := w.visit(w, was); text != was {
				v.SetString(text)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			w.walk(v.Elem())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return // bodies have their own lines, and JSON documents are UTF-8
		}
		for i := range v.Len() {
			w.in(place{index: i}, v.Index(i))
		}
	case reflect.Map:
		w.table(v)
	case reflect.Struct:
		t := v.Type()
		for i := range v.NumField() {
			f := t.Field(i)
			if f.IsExported() && f.Tag.Get("text") != "own" {
				w.in(place{name: memberName(f)}, v.Field(i))
			}
		}
	}
}

func (w *textWalk) table(v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String {
		return // a map of counts has no texts
	}
	for _, key := range v.MapKeys() {
		if own := reflect.New(v.Type().Elem()).Elem(); own.Kind() == reflect.String {
			own.Set(v.MapIndex(key))
			w.in(place{name: key.String()}, own)
			if text := own.String(); text != v.MapIndex(key).String() {
				v.SetMapIndex(key, own)
			}
			continue
		}
		w.in(place{name: key.String()}, v.MapIndex(key))
	}
}

func (w *textWalk) in(p place, v reflect.Value) {
	w.at = append(w.at, p)
	w.walk(v)
	w.at = w.at[:len(w.at)-1]
}

var escaped = strings.NewReplacer("~", "~0", "/", "~1") // RFC 6901 §3

func (w *textWalk) pointer() string {
	var b strings.Builder
	for _, p := range w.at {
		b.WriteByte('/')
		if p.name == "" {
			b.WriteString(strconv.Itoa(p.index))
		} else {
			b.WriteString(escaped.Replace(p.name))
		}
	}
	return b.String()
}

// memberName returns the JSON name of a field.
func memberName(f reflect.StructField) string {
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
		return name
	}
	return f.Name
}
