//go:build unix

package target

import (
	"io"
	"strings"
	"testing"
)

func TestATapCatchesUpWhileTheStreamContinues(t *testing.T) {
	j := newLogTail(2)
	reader, end, err := newOutputReader(Stdout, j)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	for _, text := range []string{"one", "two", strings.Repeat("many\n", 12<<10) + "last"} {
		if _, err := io.WriteString(end, text+"\n"); err != nil {
			t.Fatal(err)
		}
		reader.catchUp()
		log := j.last()
		if got := log[len(log)-1].Text; !strings.HasSuffix(text, got) || got == "" {
			t.Errorf("last line after catching up: %q, want the end of %.20q", got, text)
		}
	}
	io.WriteString(end, "unread")
	if held := reader.close(); !held {
		t.Error("close: nobody holds the pipe, want held")
	}
	log := j.last()
	if got := log[len(log)-1].Text; got != "unread" {
		t.Errorf("last line after close: %q, want unread", got)
	}
}

func TestATapSeesTheEndOfItsStream(t *testing.T) {
	log := newLogTail(2)
	reader, end, err := newOutputReader(Stdout, log)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(end, "the end")
	end.Close()
	if held := reader.close(); held {
		t.Error("close: somebody holds the pipe, want nobody")
	}
	if got := log.last(); len(got) != 1 || got[0].Text != "the end" {
		t.Errorf("log: %q, want the end", got)
	}
}

func TestCatchingUpWithAnEndlessStreamEnds(t *testing.T) {
	reader, end, err := newOutputReader(Stdout, newLogTail(2))
	if err != nil {
		t.Fatal(err)
	}
	flooded := make(chan struct{})
	go func() {
		defer close(flooded)
		for spam := []byte(strings.Repeat("spam\n", 1<<10)); ; {
			if _, err := end.Write(spam); err != nil {
				return
			}
		}
	}()
	for range 20 {
		reader.catchUp()
	}
	reader.close()
	<-flooded // the reader has ended
	end.Close()
}
