//go:build unix

package target

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// roles are what the test binary can be when a test starts it as a process: servers, most of them wrong on purpose.
// Every role first reports to its test over a connection that ends with the process (see reportServer).
var roles = map[string]func(*actor){
	"server":     (*actor).serve,
	"late":       (*actor).late,
	"never":      (*actor).never,
	"exits":      (*actor).exits,
	"stubborn":   (*actor).stubborn,
	"parent":     (*actor).parent,
	"grandchild": (*actor).grandchild,
	"leaves":     (*actor).leaves,
	"front":      (*actor).front,
	"tidy":       (*actor).tidy,
	"portless":   (*actor).portless,
	"fixed":      (*actor).fixed,
	"flood":      (*actor).flood,
	"runaway":    (*actor).runaway,
	"fugitive":   (*actor).fugitive,
	"daemon":     (*actor).daemon,
	"between":    (*actor).between,
	"adopter":    (*actor).adopter,
	"squatted":   (*actor).squatted,
	"astray":     (*actor).astray,
	"hydra":      (*actor).hydra,
	"harness":    (*actor).harness,
	"director":   (*actor).director,
	"tenant":     (*actor).tenant,
	"rival":      (*actor).rival,
}

const (
	roleVariable    = "LOCKSTEP_TEST_ROLE"
	reportVariable  = "LOCKSTEP_TEST_REPORT"
	countVariable   = "LOCKSTEP_TEST_COUNT"
	addressVariable = "LOCKSTEP_TEST_ADDRESS"
	dirVariable     = "LOCKSTEP_TEST_DIRECTORY"
	targetVariable  = "LOCKSTEP_TEST_TARGET"
)

// An actor is a process that plays a role. Its first argument is the address to listen on.
type actor struct {
	address string
	line    net.Conn // the connection to the test; the kernel closes it when the process ends
	*http.ServeMux
}

func play(role string) {
	perform, ok := roles[role]
	if !ok {
		fatal("no such role:", role)
	}
	a := &actor{ServeMux: http.NewServeMux()}
	if len(os.Args) > 1 {
		a.address = os.Args[1]
	}
	if address := os.Getenv(reportVariable); address != "" {
		line, err := net.Dial("tcp", address)
		if err != nil {
			fatal(err)
		}
		a.line = line
		a.tell(role)
	}
	perform(a)
}

func (a *actor) tell(what string) {
	if a.line != nil {
		fmt.Fprintln(a.line, what)
	}
}

func fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}

// serve is a correct server: ready at once, and SIGTERM ends it with status 0. GET /crash ends it with status 2.
func (a *actor) serve() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	a.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {})
	a.HandleFunc("GET /crash", func(http.ResponseWriter, *http.Request) {
		os.Stderr.WriteString(strings.Repeat("goroutine 1 [running]\n", 20_000))
		fatalWith(2, "nobody expected a request")
	})
	listener, err := net.Listen("tcp", a.address)
	if err != nil {
		fatal(err)
	}
	fmt.Println("listening")
	server := &http.Server{Handler: a}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fatal(err)
		}
	}()
	<-ctx.Done()
	server.Close()
	fmt.Println("bye")
}

func fatalWith(status int, text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(status)
}

// late responds to the first probes with 503.
func (a *actor) late() {
	asked := 0
	a.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 4 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	a.serve()
}

// never responds to every probe with 503, and reports each probe.
func (a *actor) never() {
	a.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		a.tell("asked")
	})
	a.serve()
}

// exits writes a lot and exits before it listens. Its child keeps its output open.
func (a *actor) exits() {
	a.spawn("grandchild", nil)
	for i := range 2000 {
		fmt.Fprintf(os.Stderr, "line %d of the complaint\n", i)
	}
	fatalWith(3, "no database: giving up")
}

// stubborn ignores SIGTERM, and reports it.
func (a *actor) stubborn() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		for range signals {
			a.tell("ignored SIGTERM")
		}
	}()
	a.HandleFunc("GET /status", func(http.ResponseWriter, *http.Request) {})
	fatal(http.ListenAndServe(a.address, a))
}

func (a *actor) parent() {
	a.spawn("grandchild", nil)
	a.serve()
}

// grandchild keeps its parent's output open, ignores every signal that it can, and stays until it is killed.
func (a *actor) grandchild() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	a.tell("settled")
	select {}
}

// leaves exits by itself on GET /leave and leaves a grandchild behind.
func (a *actor) leaves() {
	a.spawn("grandchild", nil)
	a.HandleFunc("GET /leave", func(http.ResponseWriter, *http.Request) { os.Exit(0) })
	a.serve()
}

// front is the kind of program that runs in front of the real server and exits before it.
func (a *actor) front() {
	a.spawn("tidy", nil)
	a.serve()
}

// tidy cleans up on SIGTERM, which takes until the test tells it to finish.
func (a *actor) tidy() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	a.tell("working")
	<-signals
	a.tell("tidying")
	a.line.Read(make([]byte, 1))
	a.tell("tidied")
}

// portless finds its port in use as often as the test wants, counting in a file. Then it is a correct server.
func (a *actor) portless() {
	file := os.Getenv(countVariable)
	count, err := os.ReadFile(file)
	if err != nil {
		fatal(err)
	}
	if len(count) > 0 {
		if err := os.WriteFile(file, count[1:], 0o600); err != nil {
			fatal(err)
		}
		if _, err := net.Listen("tcp", a.address); err != nil {
			fatal(err)
		}
		_, err := net.Listen("tcp", a.address) // prints what the system reports when the port is in use
		fatal(err)
	}
	a.serve()
}

// fixed listens on its own address instead of the given one.
func (a *actor) fixed() {
	_, err := net.Listen("tcp", os.Getenv(addressVariable))
	fatal(err)
}

// flood writes far more than the log keeps before it is ready.
func (a *actor) flood() {
	line := []byte(strings.Repeat("spam and eggs ", 64) + "\n")
	for range 64 << 10 { // 58 MB
		os.Stdout.Write(line)
	}
	os.Stderr.WriteString(strings.Repeat("no line end ", 1<<20))
	a.serve()
}

// runaway is a server whose child has left the process group. The child stays until it is killed, or the test closes
// the connection.
func (a *actor) runaway() {
	a.spawn("fugitive", &syscall.SysProcAttr{Setsid: true})
	a.serve()
}

// fugitive ends when the test closes the connection.
func (a *actor) fugitive() {
	signal.Ignore(syscall.SIGTERM)
	a.tell("settled")
	a.line.Read(make([]byte, 1))
}

// daemon is a server that starts a daemon in the usual way: in a new session, with a parent that exits. If the
// environment says so, the daemon removes its mark.
func (a *actor) daemon() {
	a.spawn("between", &syscall.SysProcAttr{Setsid: true})
	a.serve()
}

// between is the parent that exits.
func (a *actor) between() {
	if os.Getenv(countVariable) == "unmarked" {
		os.Unsetenv(markVariable)
	}
	a.spawn("fugitive", &syscall.SysProcAttr{Setsid: true})
}

// adopter is a harness that adopts orphans and stops all of its targets at the same time.
func (a *actor) adopter() {
	AdoptOrphans()
	spec := roleSpec("daemon")
	spec.Env[reportVariable], spec.Env[countVariable] = os.Getenv(reportVariable), "unmarked"
	spec.Stop.Grace = time.Millisecond
	target, err := Start(context.Background(), spec, nil)
	if err != nil {
		fatal(err)
	}
	targets := []*Target{target}
	for range len(os.Getenv(countVariable)) {
		spec := roleSpec("server")
		spec.Stop.Grace = time.Millisecond
		beside, err := Start(context.Background(), spec, nil)
		if err != nil {
			fatal(err)
		}
		targets = append(targets, beside)
	}
	a.tell("started")
	a.line.Read(make([]byte, 1))
	var stopping sync.WaitGroup
	for _, target := range targets {
		stopping.Go(func() {
			if err := target.Stop(context.Background()); err != nil && len(targets) == 1 {
				fatal(err) // any one of the concurrent Stops may be the one that ends the daemon
			}
		})
	}
	stopping.Wait()
}

// squatted reports where it should listen, and does not listen.
func (a *actor) squatted() {
	a.tell(a.address)
	select {}
}

// hydra is a server with a child that only forks and exits, and its children do the same.
func (a *actor) hydra() {
	shell := exec.Command("/bin/sh", "-c", `trap '' TERM; f() { f & }; f`)
	shell.Stdout = os.Stdout
	if err := shell.Run(); err != nil {
		fatal(err)
	}
	a.serve()
}

// harness is a harness in the middle of a run. Tests kill it.
func (a *actor) harness() {
	spec := roleSpec(os.Getenv(targetVariable))
	spec.Env[reportVariable] = os.Getenv(reportVariable)
	spec.Env[dirVariable] = "${{ directory }}"
	target, err := Start(context.Background(), spec, nil)
	if err != nil {
		fatal(err)
	}
	a.tell(target.dir.Path())
	time.Sleep(time.Hour)
}

// director is a harness whose target is a program.
func (a *actor) director() {
	spec := roleSpec(os.Getenv(targetVariable))
	spec.Program, spec.Ready, spec.Command = true, Ready{}, spec.Command[:1]
	spec.Env[reportVariable] = os.Getenv(reportVariable)
	spec.Env[dirVariable] = "${{ directory }}"
	program, err := StartProgram(context.Background(), spec, nil, ProgramOptions{})
	if err != nil {
		fatal(err)
	}
	a.tell(program.target.dir.Path())
	time.Sleep(time.Hour)
}

// tenant is a server that reports what it finds in its directory. It leaves a file behind in a folder that it locks.
func (a *actor) tenant() {
	dir := os.Getenv(dirVariable)
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Printf("%s: %s\n", strings.TrimPrefix(path, dir+"/"), data)
		return err
	})
	if err == nil {
		err = errors.Join(os.MkdirAll(dir+"/left", 0o700), os.WriteFile(dir+"/left/behind", []byte("x"), 0o600), os.Chmod(dir+"/left", 0o500))
	}
	if err != nil {
		fatal(err)
	}
	a.serve()
}

// spawn starts another role that shares this one's output.
func (a *actor) spawn(role string, attributes *syscall.SysProcAttr) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, attributes
	if err := cmd.Start(); err != nil {
		fatal(err)
	}
}

// astray is a stubborn server that has left the process group itself.
func (a *actor) astray() {
	if _, err := syscall.Setsid(); err != nil {
		fatal(err)
	}
	a.stubborn()
}

// rival tries to reserve a given port each time it reads a line, and reports whether it could.
func (a *actor) rival() {
	number, err := strconv.Atoi(a.address)
	if err != nil {
		fatal(err)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(reserve(number))
	}
}
