package sse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lockstep-dev/lockstep/internal/ratio"
)

// BenchmarkReader compares Reader with code that uses a bufio.Scanner. "fields" does the minimum of what a client
// needs: it joins data and keeps it with the type and the id. "split" only finds the lines, and keeps nothing.
func BenchmarkReader(b *testing.B) {
	const total = 4 << 20
	for _, size := range []int{100, 200, 1000, 64 << 10} {
		stream := benchStream(size, total)
		events := bytes.Count(stream, []byte("\n\n"))
		reader := ratio.Candidate{Name: "Reader", Round: func() ratio.Cost {
			return ratio.Of(func() { readStream(b, bytes.NewReader(stream)) })
		}}
		for _, scanner := range []struct {
			name string
			read func(*bufio.Scanner)
		}{{"fields", scanFields}, {"split", scanSplit}} {
			b.Run(fmt.Sprintf("%dB/%s", size, scanner.name), func(b *testing.B) {
				ratio.Report(b, events, reader, ratio.Candidate{Name: scanner.name, Round: func() ratio.Cost {
					return ratio.Of(func() { scanStream(b, bytes.NewReader(stream), scanner.read) })
				}})
			})
		}
	}
}

// BenchmarkReaderByteAtATime must stay linear: the time per byte must not depend on the size of the event.
func BenchmarkReaderByteAtATime(b *testing.B) {
	for _, size := range []int{200, 64 << 10, 1 << 20} {
		stream := benchStream(size, 2<<20)
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				readStream(b, iotest.OneByteReader(bytes.NewReader(stream)))
			}
		})
	}
}

// benchStream returns about total bytes of events of about the given size.
func benchStream(size, total int) []byte {
	var b bytes.Buffer
	for n := 0; b.Len() < total; n++ {
		head := fmt.Sprintf("id: %d\nevent: message.part\ndata: ", n)
		fmt.Fprintf(&b, "%s%s\n\n", head, strings.Repeat("x", max(size-len(head)-2, 0)))
	}
	return b.Bytes()
}

func readStream(b *testing.B, stream io.Reader) {
	r := NewReader(stream, nil)
	for {
		if _, err := r.Next(); err == io.EOF {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

func scanStream(b *testing.B, stream io.Reader, read func(*bufio.Scanner)) {
	s := bufio.NewScanner(stream)
	s.Buffer(make([]byte, bufferSize), defaultMaxEvent)
	read(s)
	if s.Err() != nil {
		b.Fatal(s.Err())
	}
}

var sink struct{ typ, id, data string }

func scanSplit(s *bufio.Scanner) {
	for s.Scan() {
	}
}

func scanFields(s *bufio.Scanner) {
	var typ, id string
	var data []byte
	for s.Scan() {
		line := s.Bytes()
		if len(line) == 0 {
			sink.typ, sink.id, sink.data = typ, id, string(data)
			typ, id, data = "", "", data[:0]
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			typ = string(value)
		case "id":
			id = string(value)
		case "data":
			if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, value...)
		}
	}
}
