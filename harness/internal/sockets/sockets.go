// Package sockets finds the processes that listen on a TCP port of this machine. It works on Linux, which lists sockets
// in /proc/net/tcp and /proc/net/tcp6 (proc_pid_net(5)), for the network namespace of this process.
package sockets

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Listener is a socket that listens.
type Listener struct {
	Addr  netip.Addr // unspecified when it accepts connections to all addresses
	Inode string     // its name in /proc/PID/fd
}

// Listening returns the sockets that listen on a port. It returns false when the system does not show them.
func Listening(port uint16) ([]Listener, bool) {
	var out []Listener
	known := false
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if table, err := os.Open(name); err == nil {
			known = true
			out = append(out, parse(table, port)...)
			_ = table.Close()
		}
	}
	return out, known
}

// parse reads a table up to its first connection, because Linux lists all sockets that listen before it
// (Documentation/networking/proc_net_tcp.rst). To find the connections, the kernel searches a table of many megabytes. So
// it is asked for a few lines at a time.
func parse(table io.Reader, port uint16) (out []Listener) {
	lines := bufio.NewReaderSize(table, 256)
	for header := true; ; header = false {
		line, err := lines.ReadString('\n')
		if err != nil {
			return out
		}
		// "sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …"
		fields := strings.Fields(line)
		const local, state, inode, listens = 1, 3, 9, "0A"
		if header {
			continue
		}
		if len(fields) <= inode || fields[state] != listens {
			return out
		}
		address, number, _ := strings.Cut(fields[local], ":")
		if n, err := strconv.ParseUint(number, 16, 16); err != nil || uint16(n) != port {
			continue
		}
		if addr, ok := parseAddr(address); ok {
			out = append(out, Listener{addr, fields[inode]})
		}
	}
}

// parseAddr parses an address as the kernel prints it: words of 32 bits in the byte order of the machine.
func parseAddr(text string) (netip.Addr, bool) {
	data, err := hex.DecodeString(text)
	if err != nil || len(data)%4 != 0 {
		return netip.Addr{}, false
	}
	for i := 0; i < len(data); i += 4 {
		binary.BigEndian.PutUint32(data[i:], binary.NativeEndian.Uint32(data[i:]))
	}
	addr, ok := netip.AddrFromSlice(data)
	return addr.Unmap(), ok
}

// Answering returns the sockets that a connection to addr can reach. A socket with that address takes precedence over
// one for all addresses. For IPv4, a socket of IPv4 takes precedence over one of IPv6.
func Answering(listeners []Listener, addr netip.Addr) []Listener {
	wanted := []netip.Addr{addr, netip.IPv6Unspecified()}
	if addr = addr.Unmap(); addr.Is4() {
		wanted = []netip.Addr{addr, netip.IPv4Unspecified(), netip.IPv6Unspecified()}
	}
	for _, at := range wanted {
		out := slices.DeleteFunc(slices.Clone(listeners), func(l Listener) bool { return l.Addr != at })
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// Holders returns the processes that have one of the sockets open, among those whose open files this process may see.
func Holders(listeners []Listener) []int {
	var all []int
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		pid, _ := strconv.Atoi(filepath.Base(process))
		all = append(all, pid)
	}
	return HoldersAmong(all, listeners)
}

// HoldersAmong is Holders for some processes.
func HoldersAmong(all []int, listeners []Listener) (pids []int) {
	links := map[string]bool{}
	for _, l := range listeners {
		links["socket:["+l.Inode+"]"] = true
	}
	for _, pid := range all {
		process := filepath.Join("/proc", strconv.Itoa(pid))
		files, err := os.ReadDir(filepath.Join(process, "fd"))
		if err != nil {
			continue // it has ended, or belongs to another user
		}
		for _, file := range files {
			if link, _ := os.Readlink(filepath.Join(process, "fd", file.Name())); links[link] {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// Name returns the name of a process; "" when it is unknown.
func Name(pid int) string {
	name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	return strings.TrimSpace(string(name))
}
