package main

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/server/engine/hooks"
	"github.com/lockstep-dev/lockstep/server/handlers/clienttools"
	"github.com/lockstep-dev/lockstep/server/httpapi/access"
	pathsettings "github.com/lockstep-dev/lockstep/server/settings"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// lookup returns an environment variable.
type lookup func(name string) (value string, set bool)

// settings are everything that a user can set.
type settings struct {
	host              string // an IP literal, as the user wrote it
	port              int
	directory         string
	secretKey         string
	directories       pathsettings.Directories
	maxActiveAgents   int // 0 means the default
	defaultTimeout    time.Duration
	keepaliveInterval time.Duration
	maxBody           int64
	bodyGrace         time.Duration
	bounds            clienttools.Bounds
	rateLimit         clienttools.RateLimit
	permissions       clienttools.Permissions
	origins           access.Rules
	hooks             hooks.Lists
	insecure          bool
}

// secretVariable has no flag, because everybody on the machine can read the arguments of a process.
const secretVariable = "GOOSE_SERVER__SECRET_KEY"

// defaultSecret is public, so it is enough only where other machines cannot reach the server (decision S45).
const defaultSecret = "test"

const agentsVariable = "GOOSE_MAX_ACTIVE_AGENTS"

// An option is one setting and the places where it can be set.
type option struct {
	flag, env string // "" if there is none
	key       string // its path in the configuration file, joined with dots; "" if there is none
	list      bool   // the flag may be given again; the variable has commas
	byDefault string // as help shows it
	takes     string // the placeholder for the value in help
	usage     string
}

// options are in the order of docs/server.md.
var options = []option{
	{flag: "host", env: "GOOSE_HOST", byDefault: "127.0.0.1", takes: "ip", usage: "address to listen on, an IP literal"},
	{flag: "port", env: "GOOSE_PORT", byDefault: "3000", takes: "port", usage: "port to listen on; 0 picks a free one"},
	{flag: "config", env: "AGENTD_CONFIG", byDefault: "~/.config/opencode/config.json", takes: "file", usage: "the configuration file"},
	{flag: "directory", env: "AGENTD_DIRECTORY", byDefault: "the working directory", takes: "path", usage: "directory that requests are about when they name none"},
	{flag: "default-timeout", env: "AGENTD_DEFAULT_TIMEOUT", key: "clientTools.defaultTimeout", byDefault: "30000", takes: "ms", usage: "milliseconds an execution waits for its result"},
	{flag: "keepalive-interval", env: "AGENTD_KEEPALIVE_INTERVAL", key: "clientTools.keepaliveInterval", byDefault: "30000", takes: "ms", usage: "milliseconds between two pings of a pending stream"},
	{flag: "max-body", env: "AGENTD_MAX_BODY", byDefault: "52428800", takes: "bytes", usage: "bytes of the largest request body of the client-tools family"},
	{flag: "body-grace", env: "AGENTD_BODY_GRACE", byDefault: "10000", takes: "ms", usage: "milliseconds that a request body may come slowly"},
	{flag: "allow-origin", env: "AGENTD_ALLOWED_ORIGINS", key: "allowedOrigins", byDefault: "those of this machine", takes: "origin", list: true, usage: "an origin whose pages may use client tools, such as https://app.example, or *; may be given again"},
	{flag: "host-name", env: "AGENTD_HOST_NAME", byDefault: "none", takes: "name", usage: "a name of this machine that requests of client tools may have as their host"},
	{key: "clientTools.maxTools", byDefault: "1000"},
	{key: "clientTools.maxClients", byDefault: "10000"},
	{key: "clientTools.permission", byDefault: "allow"},
	{key: "clientTools.rateLimit.calls", byDefault: "100"},
	{key: "clientTools.rateLimit.windowMs", byDefault: "60000"},
	{key: "hooks.before", byDefault: "none"},
	{key: "hooks.after", byDefault: "none"},
}

// flagValue is a flag that keeps its text. Flags, variables and the file are parsed later by the same rules.
type flagValue struct {
	text, takes string
	set, list   bool
}

func (v *flagValue) String() string { return v.text }
func (v *flagValue) Type() string   { return v.takes }
func (v *flagValue) Set(text string) error {
	if v.set && v.list {
		text = v.text + "," + text
	}
	v.text, v.set = text, true
	return nil
}

// insecureFlag allows the default secret on addresses that other machines can reach.
const insecureFlag = "insecure"

// stdinFlag ends the server with the program that started it (decision S55).
const stdinFlag = "exit-with-stdin"

// addFlags gives a command its flags, and returns their values by name.
func addFlags(cmd *cobra.Command) map[string]*flagValue {
	values := make(map[string]*flagValue)
	cmd.Flags().SortFlags = false
	for _, o := range options {
		if o.flag == "" {
			continue
		}
		values[o.flag] = &flagValue{text: o.byDefault, takes: o.takes, list: o.list}
		cmd.Flags().Var(values[o.flag], o.flag, o.usage)
	}
	cmd.Flags().Bool(stdinFlag, false, "stop as with SIGTERM when standard input ends, which it does when the parent process ends")
	cmd.Flags().Bool(insecureFlag, false, "listen on an address that is not loopback even with the default secret")
	return values
}

// variables are those of the environment that have no flag and that most users need. docs/server.md has all.
var variables = []struct{ name, what string }{
	{secretVariable, `the secret that requests must bring in X-Secret-Key; "test" if it is not set, on loopback only`},
	{agentsVariable, "how many agents are kept in memory; 100 if it is not set"},
	{"GOOSE_PATH_ROOT", "the directory of settings, sessions and logs; in the home directory if it is not set"},
	{"GOOSE_CACHE_DIR", "the directory of the prices of models; in the home directory if it is not set"},
	{"GOOSE_PRICING_URL", "the list of prices, an http or https URL, or none; that of OpenRouter if it is not set"},
	{"GOOSE_OAUTH_BROWSER", "the command that opens the page of a sign-in, or none; xdg-open if it is not set"},
	{"GOOSE_DISABLE_KEYRING", "if it is set, secrets are in a file, and not in the keyring"},
	{"OTEL_EXPORTER_OTLP_ENDPOINT", "where traces, metrics and logs are sent; nowhere if it is not set"},
}

func environmentHelp() string {
	var b strings.Builder
	for _, o := range options {
		if o.flag == "" {
			continue
		}
		fmt.Fprintf(&b, "    %-27s like --%s\n", o.env, o.flag)
	}
	for _, v := range variables {
		fmt.Fprintf(&b, "    %-27s %s\n", v.name, v.what)
	}
	return b.String()
}

// A setting is one value as the user wrote it.
type setting struct {
	where string        // e.g. "--port", "config.json: clientTools.defaultTimeout"
	text  string        // if it is not from the file
	json  jsonwire.Text // if it is from the file
}

// problem returns the error that a setting is invalid.
func (s setting) problem(must string) error {
	value := fmt.Sprintf("%q", s.text)
	if s.json != nil {
		value = string(s.json)
	}
	return fmt.Errorf("%s is %s; it must be %s", s.where, value, must)
}

// whole parses the setting as a whole number: decimal digits, or in the file any JSON number that is an integer
// (decision S34). A number above most counts as most.
func (s setting) whole(least, most int64) (n int64, ok bool) {
	if s.json != nil {
		n, ok = s.json.Integer()
		return min(n, most), ok && n >= least
	}
	if strings.Trim(s.text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s.text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		n, err = math.MaxInt64, nil
	}
	return min(n, most), err == nil && n >= least
}

// readSettings reads all settings. Its error lists every mistake.
func readSettings(flags map[string]*flagValue, insecure bool, env lookup) (settings, error) {
	r := reader{flags: flags, env: env}
	r.readFile()
	s := settings{
		directories:       r.directories(),
		maxActiveAgents:   r.maxActiveAgents(),
		host:              r.host(),
		port:              r.port(),
		directory:         r.directory(),
		defaultTimeout:    r.milliseconds("default-timeout"),
		keepaliveInterval: r.milliseconds("keepalive-interval"),
		maxBody:           r.positive("max-body", "a whole number of bytes, at least 1", math.MaxInt64),
		bodyGrace:         r.milliseconds("body-grace"),
		bounds:            clienttools.Bounds{MaxTools: r.count("clientTools.maxTools"), MaxClients: r.count("clientTools.maxClients")},
		rateLimit:         r.rateLimit(),
		permissions:       r.permissions(),
		origins:           r.origins(),
		hooks:             hooks.Lists{Before: r.hooks("hooks.before"), After: r.hooks("hooks.after")},
		insecure:          insecure,
	}
	s.secretKey = r.secretKey(s)
	return s, errors.Join(r.problems...)
}

type reader struct {
	flags    map[string]*flagValue
	env      lookup
	file     map[string]setting // by the keys of options, and of objects that are wrong
	problems []error
}

// secretKey returns the secret. It refuses the public default where other machines can reach the server.
func (r *reader) secretKey(s settings) string {
	secret, set := r.env(secretVariable)
	if !set {
		secret = defaultSecret
	}
	host, err := netip.ParseAddr(s.host)
	switch {
	case secret == "":
		r.problems = append(r.problems, fmt.Errorf("%s is empty; it must be the secret that requests bring, or not be set", secretVariable))
	case secret == defaultSecret && err == nil && !host.IsLoopback() && !s.insecure:
		r.problems = append(r.problems, fmt.Errorf("%s is %q, which everybody knows, and --host %s is not loopback; set another secret, or say --%s",
			secretVariable, defaultSecret, s.host, insecureFlag))
	}
	return secret
}

// find returns the setting of an option, by the name of its flag or its key in the file, and false if the option has
// its default. Every place that sets the option must be valid, even if another one overrides it (decision S34).
func (r *reader) find(name string, right func(setting) bool, must string) (setting, bool) {
	o := optionOf(name)
	var found []setting
	if value := r.flags[o.flag]; value != nil && value.set {
		found = append(found, setting{where: "--" + o.flag, text: value.text})
	}
	if value, _ := r.env(o.env); o.env != "" && value != "" {
		found = append(found, setting{where: o.env, text: value})
	}
	if value, ok := r.file[o.key]; ok {
		found = append(found, value)
	}
	for _, s := range found {
		if !right(s) {
			r.wrong(s, must)
		}
	}
	if len(found) == 0 {
		return setting{where: "--" + o.flag, text: o.byDefault}, false
	}
	return found[0], true
}

func optionOf(name string) option {
	for _, o := range options {
		if o.flag == name || o.key == name {
			return o
		}
	}
	panic("no option " + name)
}

func (r *reader) wrong(s setting, must string) { r.problems = append(r.problems, s.problem(must)) }

func (r *reader) host() string {
	s, _ := r.find("host", func(s setting) bool {
		_, err := netip.ParseAddr(s.text)
		return err == nil
	}, "an IP address, such as 127.0.0.1 or ::1")
	return s.text
}

func (r *reader) port() int {
	s, _ := r.find("port", func(s setting) bool {
		port, ok := s.whole(0, math.MaxInt64)
		return ok && port <= math.MaxUint16
	}, "a whole number from 0 to 65535")
	port, _ := s.whole(0, math.MaxInt64)
	return int(port)
}

func (r *reader) directory() string {
	s, given := r.find("directory", isText, "a path")
	if given {
		return s.text
	}
	directory, err := os.Getwd()
	if err == nil {
		directory, err = filepath.EvalSymlinks(directory) // decision S37
	}
	if err != nil {
		r.problems = append(r.problems, fmt.Errorf("no --directory, and the working directory is not known: %w", err))
	}
	return directory
}

func isText(s setting) bool { return s.text != "" }

func (r *reader) directories() pathsettings.Directories {
	directories, err := pathsettings.Locate(pathsettings.Lookup(r.env))
	if err != nil {
		r.problems = append(r.problems, err)
	}
	return directories
}

func (r *reader) maxActiveAgents() int {
	value, _ := r.env(agentsVariable)
	if value == "" {
		return 0
	}
	s := setting{where: agentsVariable, text: value}
	n, ok := s.whole(1, math.MaxInt32)
	if !ok {
		r.wrong(s, "a whole number, at least 1")
	}
	return int(n)
}

// milliseconds reads a duration. A value beyond the longest timer that both servers support counts as the longest.
func (r *reader) milliseconds(flag string) time.Duration {
	return time.Duration(r.positive(flag, "a whole number of milliseconds, at least 1", math.MaxInt32)) * time.Millisecond
}

func (r *reader) positive(name, must string, most int64) int64 {
	s, _ := r.find(name, isPositive, must)
	n, _ := s.whole(1, most)
	return n
}

// count reads a maximum number.
func (r *reader) count(key string) int {
	return int(r.positive(key, "a whole number, at least 1", math.MaxInt32))
}

func isPositive(s setting) bool {
	_, ok := s.whole(1, math.MaxInt64)
	return ok
}
