package keyring

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m)) }

// short are limits for tests in which they pass.
var short = Times{Call: 400 * time.Millisecond}

// silence is the answer of a method that does not answer.
var silence = []any{}

// A service is a bus with a Secret Service that has one locked item.
type service struct {
	t       *testing.T
	address string
	answers map[string][]any // in place of the usual ones
	raw     map[string][]byte

	mu       sync.Mutex
	called   []string
	text     []byte
	restarts map[string]int // how often a method does not know the session
}

const (
	anItem   = dbus.ObjectPath("/org/freedesktop/secrets/collection/login/1")
	aPrompt  = dbus.ObjectPath("/org/freedesktop/secrets/prompt/1")
	aSession = dbus.ObjectPath("/org/freedesktop/secrets/session/1")
)

// newService starts a service, which ends with the test.
func newService(t *testing.T, answers map[string][]any) *service {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("NOT RUN: keyrings are supported on Linux only")
	}
	path := filepath.Join(t.TempDir(), "bus")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, address: "unix:path=" + Escape(path), answers: answers, text: []byte(`{"A":1}`)}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				s.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		all.Wait() // the keyring has closed its connections
	})
	return s
}

// open opens the keyring, and closes it before the service ends.
func (s *service) open(times Times) *Keyring {
	s.t.Helper()
	k, err := Open(Options{Address: s.address, Times: times})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(k.Close)
	return k
}

func (s *service) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		switch {
		case err != nil:
			return
		case strings.HasPrefix(line, "BEGIN"):
			for {
				msg, err := dbus.DecodeMessage(in)
				if err != nil || !s.answer(conn, msg) {
					return
				}
			}
		case strings.HasPrefix(line, "AUTH EXTERNAL"):
			conn.Write([]byte("OK 0123456789abcdef0123456789abcdef\r\n"))
		default:
			conn.Write([]byte("REJECTED EXTERNAL\r\n"))
		}
	}
}

// answer answers a call, and reports whether the connection goes on.
func (s *service) answer(conn net.Conn, msg *dbus.Message) bool {
	name := msg.Headers[dbus.FieldMember].Value().(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called = append(s.called, name)
	if raw, ok := s.raw[name]; ok {
		conn.Write(raw)
		return true
	}
	body, scripted := s.answers[name]
	if !scripted && s.restarts[name] == 0 {
		body = s.usual(name, msg)
	} else if scripted && len(body) == 0 {
		return true
	}
	reply := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(msg.Serial()), dbus.FieldSender: dbus.MakeVariant(":1.1"),
	}}
	if s.restarts[name] > 0 {
		s.restarts[name]--
		reply.Type, body = dbus.TypeError, []any{"no session"}
		reply.Headers[dbus.FieldErrorName] = dbus.MakeVariant(errNoSession)
	}
	if len(body) > 0 && body[0] != nil {
		reply.Body = body
		reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(body...))
	}
	if err := reply.EncodeTo(conn, binary.LittleEndian); err != nil {
		return false // the keyring has closed the connection
	}
	if _, silent := s.answers["Completed"]; name == "Prompt" && !silent {
		return complete(conn)
	}
	return true
}

// complete says that the prompt was dismissed.
func complete(conn net.Conn) bool {
	body := []any{true, dbus.MakeVariant([]dbus.ObjectPath{})}
	signal := &dbus.Message{Type: dbus.TypeSignal, Body: body, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldPath: dbus.MakeVariant(aPrompt), dbus.FieldInterface: dbus.MakeVariant(promptInterface), dbus.FieldMember: dbus.MakeVariant("Completed"),
		dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(body...)),
	}}
	return signal.EncodeTo(conn, binary.LittleEndian) == nil
}

func (s *service) usual(name string, msg *dbus.Message) []any {
	switch name {
	case "Hello":
		return []any{":1.7"}
	case "OpenSession":
		return []any{dbus.MakeVariant(""), aSession}
	case "SearchItems":
		return []any{[]dbus.ObjectPath{anItem}, []dbus.ObjectPath{}}
	case "GetSecret":
		return []any{secret{aSession, []byte{}, slices.Clone(s.text), "text/plain"}}
	case "SetSecret":
		s.text = msg.Body[0].([]any)[2].([]byte)
	}
	return []any{nil}
}

// calls returns how often a method was called.
func (s *service) calls(name string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, called := range s.called {
		if called == name {
			n++
		}
	}
	return n
}

func TestATextIsReplaced(t *testing.T) {
	s := newService(t, nil)
	k := s.open(Times{})
	for _, step := range []struct{ old, new string }{{`{"A":1}`, "second"}, {"second", ""}, {"", "third"}} {
		err := k.Change(func(old []byte) ([]byte, error) {
			if string(old) != step.old || old == nil {
				t.Errorf("the old text is %q, want %q", old, step.old)
			}
			return []byte(step.new), nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	no := errors.New("no")
	if err := k.Change(func([]byte) ([]byte, error) { return []byte("x"), no }); !errors.Is(err, no) {
		t.Errorf("a change that fails: %v", err)
	}
	if err := k.Change(func([]byte) ([]byte, error) { return make([]byte, MaxSecret+1), nil }); err == nil {
		t.Error("a text above 2 MiB is written")
	}
	if text, err := k.Read(); err != nil || string(text) != "third" || s.calls("OpenSession") != 1 {
		t.Errorf("Read: %q, %v, in %d sessions", text, err, s.calls("OpenSession"))
	}
}

// TestNothingWaitsForever checks the times of decision G56.
func TestNothingWaitsForever(t *testing.T) {
	for _, method := range []string{"Hello", "OpenSession"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s := newService(t, map[string][]any{method: silence})
			if k, err := Open(Options{Address: s.address, Times: short}); err == nil {
				k.Close()
				t.Error("no answer is no error")
			}
		})
	}
	for _, method := range []string{"SearchItems", "GetSecret", "SetSecret"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			s := newService(t, map[string][]any{method: silence})
			k := s.open(short)
			err := k.Change(func([]byte) ([]byte, error) { return []byte("x"), nil })
			if err == nil || !strings.Contains(err.Error(), "no answer within 400ms") {
				t.Errorf("without an answer: %v", err)
			}
			s.mu.Lock()
			delete(s.answers, method)
			s.mu.Unlock()
			k.options.Times = Times{}.orDefaults()
			if _, err := k.Read(); err != nil || s.calls("OpenSession") != 2 {
				t.Errorf("the next access: %v, in %d sessions; want a second one", err, s.calls("OpenSession"))
			}
		})
	}
}

// reads starts accesses, and returns their errors.
func reads(k *Keyring, count int) (errs chan error) {
	errs = make(chan error, count)
	for range count {
		go func() {
			_, err := k.Read()
			errs <- err
		}()
	}
	return errs
}

func awaitWaiting(k *Keyring, count int32) {
	for k.waiting.Load() != count {
		runtime.Gosched()
	}
}

// TestASilentServiceFailsAllThatWait checks that accesses do not wait for the same silence one after the other.
func TestASilentServiceFailsAllThatWait(t *testing.T) {
	s := newService(t, map[string][]any{"SearchItems": silence})
	k := s.open(short)
	first := reads(k, 1)
	for s.calls("SearchItems") == 0 {
		runtime.Gosched()
	}
	others := reads(k, 5)
	awaitWaiting(k, 5)
	for range 5 {
		if err := <-others; !errors.Is(err, errNoAnswer) {
			t.Errorf("an access that has waited: %v", err)
		}
	}
	if err := <-first; !errors.Is(err, errNoAnswer) || s.calls("SearchItems") != 1 {
		t.Errorf("%v after %d searches, want one", err, s.calls("SearchItems"))
	}
	if _, err := k.Read(); !errors.Is(err, errNoAnswer) || s.calls("SearchItems") != 2 {
		t.Errorf("the next access: %v after %d searches, want another", err, s.calls("SearchItems"))
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	k := newService(t, nil).open(Times{})
	k.turn <- struct{}{}
	waiting := reads(k, maxWaiting)
	awaitWaiting(k, maxWaiting)
	if _, err := k.Read(); !errors.Is(err, errBusy) {
		t.Errorf("one access more: %v", err)
	}
	k.release()
	for range maxWaiting {
		if err := <-waiting; err != nil {
			t.Errorf("an access that has waited: %v", err)
		}
	}
	k = newService(t, nil).open(Times{Turn: time.Millisecond})
	k.turn <- struct{}{}
	if _, err := k.Read(); !errors.Is(err, errBusy) {
		t.Errorf("an access that waits for too long: %v", err)
	}
	k.release()
}

// TestAServiceThatIsRestarted checks that an access is repeated once when the service does not know the session.
func TestAServiceThatIsRestarted(t *testing.T) {
	for _, method := range []string{"GetSecret", "SetSecret"} {
		s := newService(t, nil)
		k := s.open(Times{})
		for i, restarts := range []int{1, 2} {
			s.mu.Lock()
			s.restarts = map[string]int{method: restarts}
			s.mu.Unlock()
			err := k.Change(func(old []byte) ([]byte, error) { return append(old, 'x'), nil })
			if failed := err != nil; failed != (restarts > 1) || s.calls("OpenSession") != 2+i {
				t.Errorf("%s does not know the session %d times: %v, %d sessions", method, restarts, err, s.calls("OpenSession"))
			}
		}
		if string(s.text) != `{"A":1}x` {
			t.Errorf("%s: the text is %s", method, s.text)
		}
	}
}

// locked are the answers of a service whose item needs a prompt.
func locked() map[string][]any {
	return map[string][]any{
		"SearchItems": {[]dbus.ObjectPath{}, []dbus.ObjectPath{anItem}},
		"Unlock":      {[]dbus.ObjectPath{}, aPrompt},
	}
}

func TestAPromptThatIsNotAnsweredIsDismissed(t *testing.T) {
	answers := locked()
	answers["Completed"] = silence
	s := newService(t, answers)
	k := s.open(Times{Prompt: 50 * time.Millisecond})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := k.Read(); err == nil {
				t.Error("a locked item is read")
			}
		})
	}
	all.Wait()
	if s.calls("Prompt") != 1 || s.calls("Dismiss") == 0 {
		t.Errorf("%d prompts, %d times Dismiss; want one prompt, dismissed", s.calls("Prompt"), s.calls("Dismiss"))
	}
}

func TestADismissedPromptComesAgainLater(t *testing.T) {
	s := newService(t, locked())
	k := s.open(Times{Quiet: time.Hour})
	if _, err := k.Read(); !errors.Is(err, errDismissed) {
		t.Errorf("a dismissed prompt: %v", err)
	}
	if _, err := k.Read(); !errors.Is(err, errRefused) || s.calls("Prompt") != 1 {
		t.Errorf("the next access: %v, %d prompts", err, s.calls("Prompt"))
	}
	k.turn <- struct{}{}
	k.refused = k.refused.Add(-time.Hour)
	k.release()
	if _, err := k.Read(); !errors.Is(err, errDismissed) || s.calls("Prompt") != 2 {
		t.Errorf("an hour later: %v, %d prompts", err, s.calls("Prompt"))
	}
}

// TestCloseEndsAPrompt checks that a server does not wait for the user when it stops.
func TestCloseEndsAPrompt(t *testing.T) {
	answers := locked()
	answers["Completed"] = silence
	s := newService(t, answers)
	k := s.open(Times{})
	read := make(chan error, 1)
	go func() {
		_, err := k.Read()
		read <- err
	}()
	for s.calls("Prompt") == 0 {
		runtime.Gosched()
	}
	k.Close()
	if err := <-read; err == nil {
		t.Error("an access after Close has no error")
	}
	if _, err := k.Read(); !errors.Is(err, errClosed) {
		t.Errorf("Read after Close: %v", err)
	}
}

func TestABusThatSendsTooMuch(t *testing.T) {
	large := slices.Concat([]byte{'l', 2, 0, 1}, binary.LittleEndian.AppendUint32(nil, maxMessage), make([]byte, 8))
	for name, raw := range map[string][]byte{"a large message": large, "no message": []byte(strings.Repeat("x", 16))} {
		s := newService(t, nil)
		s.raw = map[string][]byte{"GetSecret": raw}
		k := s.open(Times{})
		if _, err := k.Read(); !errors.Is(err, errTooLarge) && !errors.Is(err, errNotDBus) && !errors.Is(err, dbus.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for entry, want := range map[string]string{
		"unix:path=/run/a%20b":         "/run/a b",
		"unix:abstract=/x,guid=0":      "@/x",
		"unix:path=" + Escape("/é=,;"): "/é=,;",
		"unix:":                        "", "unix:path=/a,abstract=b": "", "unix:path=%zz": "", "unix:path=/a,path=/b": "", "nonsense": "", "": "",
	} {
		p, err := parsePlace(entry)
		var got string
		if err == nil {
			got, err = p.socket()
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", entry, got, err, want)
		}
	}
	p, err := parsePlace("unixexec:path=a%2fb,argv0=c,argv2=e,argv1=d,argv4=no")
	if err != nil {
		t.Fatal(err)
	}
	if path, args, err := p.command(); path != "a/b" || !slices.Equal(args, []string{"c", "d", "e"}) || err != nil {
		t.Errorf("a command: %q %q, %v", path, args, err)
	}
}
