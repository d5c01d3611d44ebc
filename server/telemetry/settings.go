package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// A Lookup returns a variable of the environment.
type Lookup func(name string) (value string, set bool)

// Settings are what the environment says about telemetry. The zero value exports nothing.
type Settings struct {
	traces, metrics, logs *target // nil if the signal is off
	spans, records        batches
	interval              time.Duration // between two exports of metrics
	metricsTimeout        time.Duration // of one export of metrics
	sampler               string
	ratio                 float64
	continues             bool // traceparent of a request continues a trace
	resource              []pair
}

// On reports whether anything is exported.
func (s Settings) On() bool { return s.traces != nil || s.metrics != nil || s.logs != nil }

// A target is where a signal is exported to, and how.
type target struct {
	signal  string // traces, metrics or logs
	url     *url.URL
	headers map[string]string
	timeout time.Duration // of one export with its repetitions
	gzip    bool
	dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil means over the network
}

// batches limit how spans or log records are exported.
type batches struct {
	delay, timeout time.Duration
	queue, batch   int
}

type pair struct{ name, value string }

const prefix = "OTEL_EXPORTER_OTLP_"

// Read reads the environment (decisions T1 to T10). The warnings have one line for each variable that cannot be used as it
// is. Variables of a signal that is off are not read.
func Read(env Lookup) (s Settings, warnings []string) {
	r := reader{env: env}
	if strings.EqualFold(r.get("OTEL_SDK_DISABLED"), "true") {
		return Settings{}, nil
	}
	s.traces, s.metrics, s.logs = r.target("traces"), r.target("metrics"), r.target("logs")
	if !s.On() {
		return Settings{}, r.warnings
	}
	s.resource = r.resource()
	if s.traces != nil {
		s.spans = r.batches("OTEL_BSP_", 5*time.Second)
		s.sampler, s.ratio = r.sampler()
		s.continues = r.continues()
	}
	if s.logs != nil {
		s.records = r.batches("OTEL_BLRP_", time.Second)
	}
	if s.metrics != nil {
		s.interval = r.milliseconds("OTEL_METRIC_EXPORT_INTERVAL", time.Minute)
		s.metricsTimeout = r.milliseconds("OTEL_METRIC_EXPORT_TIMEOUT", 30*time.Second)
	}
	return s, r.warnings
}

type reader struct {
	env      Lookup
	warned   []string // the variables of the warnings
	warnings []string
}

// get returns a variable. An empty one is unset.
func (r *reader) get(name string) string {
	value, _ := r.env(name)
	return strings.TrimSpace(value)
}

// first returns the first variable that is set, and its name.
func (r *reader) first(names ...string) (name, value string) {
	for _, name := range names {
		if value := r.get(name); value != "" {
			return name, value
		}
	}
	return "", ""
}

// warn warns once about each variable.
func (r *reader) warn(name, what string) {
	if slices.Contains(r.warned, name) {
		return
	}
	r.warned = append(r.warned, name)
	r.warnings = append(r.warnings, "warning: "+name+" "+what)
}

func (r *reader) warnValue(name, value, instead string) {
	r.warn(name, fmt.Sprintf("is %q, which this server cannot use; %s", value, instead))
}

// target returns where a signal is exported to, or nil if it is off.
func (r *reader) target(signal string) *target {
	upper := strings.ToUpper(signal)
	own := func(what string) []string { return []string{prefix + upper + "_" + what, prefix + what} }
	name, endpoint := r.first(own("ENDPOINT")...)
	exporter := "OTEL_" + upper + "_EXPORTER"
	kind := cmp.Or(r.get(exporter), "otlp")
	if endpoint == "" || strings.EqualFold(kind, "none") {
		return nil
	}
	if !strings.EqualFold(kind, "otlp") {
		r.warnValue(exporter, kind, "no "+signal+" are exported")
		return nil
	}
	off := "nothing of what it is for is exported"
	if name, protocol := r.first(own("PROTOCOL")...); protocol != "" && !strings.EqualFold(protocol, "http/protobuf") {
		r.warnValue(name, protocol, off)
		return nil
	}
	to, err := url.Parse(endpoint)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Hostname() == "" {
		r.warn(name, "is not an http or https URL with a host; "+off)
		return nil
	}
	if to.Path == "" {
		to.Path = "/"
	}
	if name == prefix+"ENDPOINT" {
		to = to.JoinPath("v1", signal)
	}
	timeoutName, _ := r.first(own("TIMEOUT")...)
	return &target{
		signal:  signal,
		url:     to,
		headers: r.headers(own("HEADERS")),
		timeout: r.milliseconds(timeoutName, 10*time.Second),
		gzip:    r.compressed(own("COMPRESSION")),
	}
}

func (r *reader) compressed(names []string) bool {
	name, value := r.first(names...)
	switch strings.ToLower(value) {
	case "gzip":
		return true
	case "", "none":
	default:
		r.warnValue(name, value, "exports are not compressed")
	}
	return false
}

// headers returns the header fields of exports. A warning does not have their values, which are secret.
func (r *reader) headers(names []string) map[string]string {
	name, list := r.first(names...)
	fields := map[string]string{}
	pairs, bad := pairsOf(list)
	for _, p := range pairs {
		if !httpguts.ValidHeaderFieldName(p.name) || !httpguts.ValidHeaderFieldValue(p.value) {
			bad = true
			continue
		}
		fields[p.name] = p.value
	}
	if bad {
		r.warn(name, "has a part that is not name=value, as a header field; that part is left out")
	}
	return fields
}

// pairsOf reads name=value pairs, separated by commas, with percent-encoded values. It reports whether there are others.
func pairsOf(list string) (pairs []pair, bad bool) {
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			bad = true
			continue
		}
		pairs = append(pairs, pair{name, value})
	}
	return pairs, bad
}

// These are what a server is called unless its user says otherwise (decision T6).
const (
	serviceName    = "agentd"
	serviceVersion = "1.16.0"
)

// resource returns the attributes of the resource, those with precedence last.
func (r *reader) resource() []pair {
	const variable = "OTEL_RESOURCE_ATTRIBUTES"
	all := []pair{{"service.name", serviceName}, {"service.version", serviceVersion}}
	list := r.get(variable)
	if pairs, bad := pairsOf(list); bad {
		r.warnValue(variable, list, "all of it is ignored")
	} else {
		all = append(all, pairs...)
	}
	if name := r.get("OTEL_SERVICE_NAME"); name != "" {
		all = append(all, pair{"service.name", name})
	}
	return all
}

// Samplers.
const (
	alwaysOn       = "always_on"
	alwaysOff      = "always_off"
	byRatio        = "traceidratio"
	parentAlwaysOn = "parentbased_always_on"
	parentOff      = "parentbased_always_off"
	parentRatio    = "parentbased_traceidratio"
)

var decimal = regexp.MustCompile(`^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

func (r *reader) sampler() (name string, ratio float64) {
	const variable, argument = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	value := r.get(variable)
	switch name = strings.ToLower(value); name {
	case "":
		return parentAlwaysOn, 1
	case alwaysOn, alwaysOff, parentAlwaysOn, parentOff:
		return name, 1
	case byRatio, parentRatio:
	default:
		r.warnValue(variable, value, "it is ignored, so all traces are sampled whose parents are")
		return parentAlwaysOn, 1
	}
	value = r.get(argument)
	if value == "" {
		return name, 1
	}
	ratio, err := strconv.ParseFloat(value, 64)
	if err != nil || !decimal.MatchString(value) || ratio > 1 {
		r.warnValue(argument, value, "it is ignored, so the ratio is 1")
		return name, 1
	}
	return name, ratio
}

// continues reports whether traceparent counts.
func (r *reader) continues() bool {
	list := r.get("OTEL_PROPAGATORS")
	if list == "" {
		return true
	}
	for name := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(name) == "tracecontext" {
			return true
		}
	}
	return false
}

func (r *reader) batches(prefix string, delay time.Duration) batches {
	b := batches{
		delay:   r.milliseconds(prefix+"SCHEDULE_DELAY", delay),
		timeout: r.milliseconds(prefix+"EXPORT_TIMEOUT", 30*time.Second),
		queue:   int(r.positive(prefix+"MAX_QUEUE_SIZE", 2048, maxQueue)),
		batch:   int(r.positive(prefix+"MAX_EXPORT_BATCH_SIZE", 512, maxQueue)),
	}
	b.batch = min(b.batch, b.queue)
	return b
}

// maxQueue limits the memory for what waits to be exported. A larger number counts as this.
const maxQueue = 1 << 20

func (r *reader) milliseconds(name string, byDefault time.Duration) time.Duration {
	return time.Duration(r.positive(name, byDefault.Milliseconds(), math.MaxInt32)) * time.Millisecond
}

// positive returns a positive whole number, of which more than most counts as most.
func (r *reader) positive(name string, byDefault, most int64) int64 {
	value := r.get(name)
	if value == "" {
		return byDefault
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if tooLarge := err != nil && n == math.MaxUint64; tooLarge {
		err = nil
	}
	if err != nil || n == 0 {
		r.warnValue(name, value, fmt.Sprintf("%d is used instead", byDefault))
		return byDefault
	}
	return int64(min(n, uint64(most)))
}
