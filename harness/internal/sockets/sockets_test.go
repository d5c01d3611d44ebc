package sockets

import (
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestTheListenerIsFound(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	for _, tc := range []struct{ network, listen, ask string }{
		{"tcp4", "127.0.0.1:0", "127.0.0.1"},
		{"tcp4", "0.0.0.0:0", "127.0.0.1"},
		{"tcp", "[::]:0", "127.0.0.1"},
		{"tcp6", "[::1]:0", "::1"},
		{"tcp6", "[::]:0", "::1"},
	} {
		l, err := net.Listen(tc.network, tc.listen)
		if err != nil {
			t.Logf("%s is not listened on: %v", tc.listen, err)
			continue
		}
		defer l.Close()
		all, ok := Listening(l.Addr().(*net.TCPAddr).AddrPort().Port())
		answering := Answering(all, netip.MustParseAddr(tc.ask))
		if !ok || len(answering) != 1 {
			t.Errorf("%s: %v of %v answer at %s, %t", tc.listen, answering, all, tc.ask, ok)
		}
		if pids := Holders(answering); !slices.Equal(pids, []int{os.Getpid()}) {
			t.Errorf("%s is held by %d, not by %d", tc.listen, pids, os.Getpid())
		}
	}
}

func TestTheMostSpecificSocketAnswers(t *testing.T) {
	at := func(address, inode string) Listener { return Listener{netip.MustParseAddr(address), inode} }
	all := []Listener{at("::", "any"), at("0.0.0.0", "any4"), at("127.0.0.1", "own"), at("127.0.0.1", "shared"), at("::1", "own6")}
	for _, tc := range []struct {
		ask  string
		want []Listener
	}{
		{"127.0.0.1", all[2:4]},
		{"::ffff:127.0.0.1", all[2:4]},
		{"127.0.0.2", all[1:2]},
		{"::1", all[4:]},
		{"fe80::1", all[:1]},
	} {
		if got := Answering(all, netip.MustParseAddr(tc.ask)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.ask, got, tc.want)
		}
	}
	if got := Answering(all[:1], netip.MustParseAddr("127.0.0.1")); len(got) != 1 {
		t.Errorf("a socket of IPv6 alone: %v", got)
	}
}

func TestATableIsReadUpToItsFirstConnection(t *testing.T) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	socket := func(state, inode string) string {
		return "   0: 0100007F:07E8 00000000:0000 " + state + " 00000000:00000000 00:00000000 00000000     0        0 " + inode + " 1 0 100 0 0 10 0\n"
	}
	unread := strings.NewReader(strings.Repeat(socket("06", "9"), 100))
	table := io.MultiReader(strings.NewReader(head+socket("0A", "1")+socket("0A", "2")+socket("01", "3")), unread)
	got := parse(table, 0x07e8)
	if len(got) != 2 || got[0].Inode != "1" || got[1].Inode != "2" {
		t.Errorf("the sockets that listen: %v", got)
	}
	if unread.Len() < 90*len(socket("06", "9")) {
		t.Errorf("%d bytes behind the first connection are left", unread.Len())
	}
	if got := parse(strings.NewReader(head), 0x07e8); len(got) != 0 {
		t.Errorf("an empty table: %v", got)
	}
}
