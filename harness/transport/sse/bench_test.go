package sse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// BenchmarkReader stands beside what one would write with a bufio.Scanner. "split" only finds the lines; "fields" also
// does what the least a client can do: it joins data and keeps it with the type and the id.
func BenchmarkReader(b *testing.B) {
	for _, size := range []int{100, 200, 1000, 64 << 10} {
		stream := benchStream(size, 4<<20)
		b.Run(fmt.Sprintf("%dB/Reader", size), func(b *testing.B) { benchReader(b, stream, func(r io.Reader) io.Reader { return r }) })
		b.Run(fmt.Sprintf("%dB/Scanner-split", size), func(b *testing.B) { benchScanner(b, stream, scanSplit) })
		b.Run(fmt.Sprintf("%dB/Scanner-fields", size), func(b *testing.B) { benchScanner(b, stream, scanFields) })
	}
}

// BenchmarkReaderByteAtATime stays linear: the time for each byte does not depend on the size of the event.
func BenchmarkReaderByteAtATime(b *testing.B) {
	for _, size := range []int{200, 64 << 10, 1 << 20} {
		stream := benchStream(size, 2<<20)
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) { benchReader(b, stream, iotest.OneByteReader) })
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

func benchReader(b *testing.B, stream []byte, wrap func(io.Reader) io.Reader) {
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(wrap(bytes.NewReader(stream)), nil)
		for {
			if _, err := r.Next(); err != nil {
				if err != io.EOF {
					b.Fatal(err)
				}
				break
			}
		}
	}
}

func benchScanner(b *testing.B, stream []byte, read func(*bufio.Scanner)) {
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		s := bufio.NewScanner(bytes.NewReader(stream))
		s.Buffer(make([]byte, bufferSize), defaultMaxEvent)
		read(s)
		if s.Err() != nil {
			b.Fatal(s.Err())
		}
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
