package faux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// A Style is how a server writes its answers: everything that two correct servers may do differently. The zero Style
// is plain: compact, sorted, in one piece. A Style is safe for concurrent use.
type Style struct {
	mu   sync.Mutex
	dice *rand.Rand // nil: the plain style
}

// NewStyle returns a style that chooses at random everything that does not matter.
func NewStyle(seed uint64) *Style {
	return &Style{dice: rand.New(rand.NewPCG(seed, 0))}
}

// Below returns a random number from 0 to n-1, and 0 in the plain style.
func (s *Style) Below(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dice == nil || n <= 0 {
		return 0
	}
	return s.dice.IntN(n)
}

func (s *Style) shuffle(n int, swap func(i, j int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dice != nil {
		s.dice.Shuffle(n, swap)
	}
}

// JSON writes a value: members in any order, white space anywhere, numbers, times and strings in any equivalent form.
func (s *Style) JSON(v any) []byte {
	switch v := v.(type) {
	case object:
		parts := make([][]byte, 0, len(v))
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		s.shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			parts = append(parts, fmt.Appendf(nil, "%s%s:%s%s", s.text(name), s.blank(), s.blank(), s.JSON(v[name])))
		}
		return s.enclose("{", parts, "}")
	case []any:
		parts := make([][]byte, len(v))
		for i := range v {
			parts[i] = s.JSON(v[i])
		}
		return s.enclose("[", parts, "]")
	case string:
		return s.text(v)
	case time.Time:
		return s.time(v)
	case json.Number:
		return s.number(v)
	default:
		return must(json.Marshal(v))
	}
}

func (s *Style) enclose(open string, parts [][]byte, end string) []byte {
	joint := "," + s.blank()
	return fmt.Appendf(nil, "%s%s%s%s%s", open, s.blank(), bytes.Join(parts, []byte(joint)), s.blank(), end)
}

// blank returns insignificant white space without line ends, because the same text goes into events.
func (s *Style) blank() string { return []string{"", " ", "\t", "  "}[s.Below(4)] }

// text writes a string, sometimes with its non-ASCII characters escaped.
func (s *Style) text(v string) []byte {
	quoted := must(json.Marshal(v))
	if s.Below(2) == 0 {
		return quoted
	}
	out := make([]byte, 0, len(quoted))
	for _, c := range string(quoted) {
		switch {
		case c < utf8.RuneSelf:
			out = append(out, byte(c))
		default:
			for _, unit := range utf16.Encode([]rune{c}) {
				out = fmt.Appendf(out, `\u%04X`, unit)
			}
		}
	}
	return out
}

func (s *Style) number(v json.Number) []byte {
	spellings := map[json.Number][]string{"1.5": {"1.5", "1.50", "15e-1", "0.15E+1"}}[v]
	return []byte(spellings[s.Below(len(spellings))])
}

func (s *Style) time(v time.Time) []byte {
	zones := []*time.Location{time.UTC, time.FixedZone("", 2*60*60), time.FixedZone("", -9*60*60-30*60)}
	return must(json.Marshal(v.In(zones[s.Below(len(zones))]).Format(time.RFC3339)))
}

// header returns the fields in any order, with names in any case.
func (s *Style) header(fields []field) []field {
	out := slices.Clone(fields)
	s.shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	for i := range out {
		out[i].name = []string{out[i].name, strings.ToLower(out[i].name), strings.ToUpper(out[i].name)}[s.Below(3)]
	}
	return out
}

// end adds the empty line after a head.
func (s *Style) end(head []byte) []byte { return append(head, "\r\n"...) }

// frame returns a body as it is sent, and the header field for its framing: a length, or chunks.
func (s *Style) frame(body []byte) (framing, content []byte) {
	if s.Below(2) == 0 {
		return fmt.Appendf(nil, "Content-Length: %d\r\n", len(body)), body
	}
	for _, part := range s.split(string(body)) {
		content = append(content, chunk(part)...)
	}
	return []byte("Transfer-Encoding: chunked\r\n"), append(content, "0\r\n\r\n"...)
}

// split cuts a text into pieces. No piece is empty, because an empty chunk would end a body.
func (s *Style) split(text string) []string {
	var out []string
	for len(text) > 0 {
		n := len(text)
		if s.Below(2) == 1 {
			n = 1 + s.Below(len(text))
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// phase returns how late a ping is. It is well within what two correct servers may differ by.
func (s *Style) phase(beat time.Duration) time.Duration {
	return time.Duration(s.Below(int(beat) / 10))
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic("faux: a value of its own has no JSON: " + err.Error())
	}
	return b
}
