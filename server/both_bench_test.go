package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-dev/lockstep/internal/ratio"
	"github.com/lockstep-dev/lockstep/server/llm/llmtest"
)

// clients is the number of concurrent clients.
const clients = 8

// BenchmarkBothGetSession reads a session of 20 messages from the Go server and from the reference.
func BenchmarkBothGetSession(b *testing.B) {
	const requests = 400 // per round
	both := startBoth(b, http.NotFound)
	took := reportBoth(b, both, requests, "requests/s", func(p *program) func(int) {
		id := field(b, string(p.post(b, "/sessions/import", exported(b, 20))), "id")
		return func(int) {
			if body := p.get(b, "/sessions/"+id); bytes.Count(body, []byte(`"role"`)) != 20 {
				b.Errorf("%s: not 20 messages: %.300s", p.name, body)
			}
		}
	})
	reportPercentile(b, both, took, 99)
}

// BenchmarkBothGetConfig reads the settings, with ten extensions and twenty other objects, and the list of providers.
// Both servers read their files each time.
func BenchmarkBothGetConfig(b *testing.B) {
	const requests = 400 // per round
	for _, of := range []struct {
		path string
		has  map[string]int // how often the answer has a text
	}{
		{"/config", map[string]int{`"KEY_`: 20, `"stdio"`: 10}},
		{"/config/providers", map[string]int{`"is_configured"`: 22, `"is_configured":true`: 1}},
	} {
		b.Run(path.Base(of.path), func(b *testing.B) {
			both := startBoth(b, http.NotFound)
			took := reportBoth(b, both, requests, "requests/s", func(p *program) func(int) {
				p.configure(b)
				return func(int) {
					body := p.get(b, of.path)
					for text, count := range of.has {
						if bytes.Count(body, []byte(text)) != count {
							b.Errorf("%s: not %d times %s: %.300s", p.name, count, text, body)
						}
					}
				}
			})
			reportPercentile(b, both, took, 50)
			reportPercentile(b, both, took, 99)
		})
	}
}

// configure stores two large settings.
func (p *program) configure(b *testing.B) {
	var keys, extensions []string
	for i := range 20 {
		keys = append(keys, fmt.Sprintf(`"KEY_%d":{"text":"value %d","list":[1,2.5,true,null]}`, i, i))
	}
	for i := range 10 {
		extensions = append(extensions, fmt.Sprintf(`"e%d":{"enabled":true,"type":"stdio","name":"e%d","cmd":"sh","args":["-c","exit"],"envs":{"A":"b"}}`, i, i))
	}
	for key, value := range map[string][]string{"keys": keys, "extensions": extensions} {
		p.post(b, "/config/upsert", `{"key":"`+key+`","value":{`+strings.Join(value, ",")+`},"is_secret":false}`)
	}
}

// BenchmarkBothReply measures the first replies of sessions, with 50 pieces each.
func BenchmarkBothReply(b *testing.B) {
	const replies = 24 // per round
	both := startBoth(b, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(wholeAnswer)
	})
	reportBoth(b, both, replies, "streams/s", func(p *program) func(int) {
		sessions := p.startSessions(b, replies)
		return func(i int) {
			if body := p.post(b, "/reply", ask(sessions[i], "hi")); bytes.Count(body, []byte(`"type":"Message"`)) != answerPieces {
				b.Errorf("%s: other than %d pieces: %.300s", p.name, answerPieces, body)
			}
		}
	})
}

// BenchmarkBothOpenReplies measures the resident memory of both servers with 500 replies that wait for the model,
// after each has received its third Ping.
func BenchmarkBothOpenReplies(b *testing.B) {
	const open = 500
	residentOfBoth(b, func(p *program, metrics metrics) {
		sessions := p.startSessions(b, open)
		before := p.resident(b)
		var conns []net.Conn
		var waiting sync.WaitGroup
		for _, session := range sessions {
			c := p.openReply(b, session)
			conns = append(conns, c)
			waiting.Go(func() { awaitPings(b, c, 3) })
		}
		waiting.Wait()
		all := p.resident(b)
		metrics.add(p.name+"-MiB", float64(all)/(1<<20))
		metrics.add(p.name+"-KiB/stream", float64(all-before)/open/1024)
		closeAll(conns)
	}, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
}

// BenchmarkBothStalledReaders measures how much a reply reads from its model when nobody reads the reply, and how
// much the resident memory grows.
func BenchmarkBothStalledReaders(b *testing.B) {
	const readers, offered = 10, 64 << 20
	stalled := make(chan int, readers)
	residentOfBoth(b, func(p *program, metrics metrics) {
		sessions := p.startSessions(b, readers)
		before := p.resident(b)
		var conns []net.Conn
		for _, session := range sessions {
			conns = append(conns, p.openReply(b, session))
		}
		for range readers {
			taken := <-stalled
			if taken >= offered {
				b.Errorf("%s took all %d MiB of an answer that nobody reads", p.name, taken>>20)
			}
			metrics.add(p.name+"-taken-MiB", float64(taken)/(1<<20))
		}
		metrics.add(p.name+"-grown-MiB/reader", float64(p.resident(b)-before)/readers/(1<<20))
		closeAll(conns)
	}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		stalled <- offer(w, offered)
		<-r.Context().Done()
	})
}

// offer streams an answer of the given size until the other side has taken nothing for a second. It returns how much
// was taken, including the buffers of the sockets.
func offer(w http.ResponseWriter, size int) (taken int) {
	w.Header().Set("Content-Type", "text/event-stream")
	piece := []byte("data: " + llmtest.Says("c1", strings.Repeat("x", 16<<10))[0] + "\n\n")
	rc := http.NewResponseController(w)
	for taken < size {
		rc.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := w.Write(piece)
		if err != nil || rc.Flush() != nil {
			break
		}
		taken += n
	}
	return taken
}

// reportBoth measures the Go server against the reference, in rounds of the given number of operations from several
// clients. It calls prepare before each round, and does not measure that. It returns how long the operations of each
// round took, sorted. CPU time is that of the server's process.
func reportBoth(b *testing.B, both [2]*program, operations int, unit string, prepare func(*program) (operation func(i int))) (took [2][][]time.Duration) {
	b.Helper()
	var candidates [2]ratio.Candidate
	for which, p := range both {
		candidates[which] = ratio.Candidate{Name: p.name, Round: func() ratio.Cost {
			operation := prepare(p)
			if b.Failed() {
				b.FailNow()
			}
			var round []time.Duration
			before := p.cpuTime()
			cost := ratio.Of(func() { round = fromClients(operations, operation) })
			cost.CPU = p.cpuTime() - before
			took[which] = append(took[which], round)
			return cost
		}}
	}
	ours, theirs := ratio.Report(b, operations, candidates[0], candidates[1])
	b.ReportMetric(1/ours.Seconds(), both[0].name+"-"+unit)
	b.ReportMetric(1/theirs.Seconds(), both[1].name+"-"+unit)
	return took
}

// fromClients calls do the given number of times, from several goroutines, and returns the durations, sorted.
func fromClients(times int, do func(i int)) []time.Duration {
	took := make([]time.Duration, times)
	var next atomic.Int64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < times; i = int(next.Add(1)) - 1 {
				start := time.Now()
				do(i)
				took[i] = time.Since(start)
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took
}

// middle returns the median of the rounds' n-th fastest operations.
func middle(rounds [][]time.Duration, n int) time.Duration {
	var times []time.Duration
	for _, round := range rounds {
		times = append(times, round[n])
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// reportPercentile reports the medians of the rounds' percentiles, and their ratio.
func reportPercentile(b *testing.B, both [2]*program, took [2][][]time.Duration, percent int) {
	b.Helper()
	var at [2]time.Duration
	name := fmt.Sprintf("p%d", percent)
	for i, p := range both {
		at[i] = middle(took[i], len(took[i][0])*percent/100)
		b.ReportMetric(at[i].Seconds()*1e3, p.name+"-"+name+"-ms")
	}
	b.ReportMetric(at[0].Seconds()/at[1].Seconds(), name+"-ratio")
}

// residentOfBoth measures both servers three times in turn, each time with new processes. It reports the median, the
// smallest and the largest value.
func residentOfBoth(b *testing.B, measure func(*program, metrics), model http.HandlerFunc) {
	const rounds = 3
	all := metrics{}
	for range rounds {
		for _, p := range startBoth(b, model) {
			measure(p, all)
		}
	}
	b.ReportMetric(0, "ns/op") // removes the time of all rounds, which has no meaning
	all.report(b)
}

// metrics are values by the name of their metric.
type metrics map[string][]float64

func (m metrics) add(name string, value float64) { m[name] = append(m[name], value) }

func (m metrics) report(b *testing.B) {
	for name, values := range m {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], name)
		b.ReportMetric(values[0], name+"-min")
		b.ReportMetric(values[len(values)-1], name+"-max")
	}
}

// openReply requests a reply on a connection of its own with a small receive buffer.
func (p *program) openReply(b *testing.B, session string) net.Conn {
	b.Helper()
	c, err := net.Dial("tcp", p.addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		b.Fatal(err)
	}
	if _, err := io.WriteString(c, withJSON("POST /reply", ask(session, "hi"), secret)); err != nil {
		b.Fatal(err)
	}
	return c
}

// awaitPings reads a stream until it has the given number of Pings.
func awaitPings(b *testing.B, stream net.Conn, count int) {
	stream.SetReadDeadline(time.Now().Add(time.Minute))
	buf := make([]byte, 4096)
	for n := 0; bytes.Count(buf[:n], []byte(`"Ping"`)) < count; {
		read, err := stream.Read(buf[n:])
		if err != nil {
			b.Errorf("%v after %q", err, buf[:n])
			return
		}
		n += read
	}
}

func closeAll(conns []net.Conn) {
	for _, c := range conns {
		c.Close()
	}
}

// exported returns a request that imports a session with the given number of messages.
func exported(b *testing.B, messages int) (request string) {
	var list []string
	for i := range messages {
		role := [...]string{"user", "assistant"}[i%2]
		list = append(list, fmt.Sprintf(`{"id":null,"role":%q,"created":%d,"content":[{"type":"text","text":%q}],"metadata":{"userVisible":true,"agentVisible":true}}`,
			role, 1_765_386_000+i, strings.Repeat("some words ", 20)))
	}
	text := `{"id":"20251210_1","working_dir":"/w","name":"n","created_at":"2025-12-10T16:59:31Z","updated_at":"2025-12-10T16:59:31Z",` +
		`"extension_data":{},"message_count":0,"conversation":[` + strings.Join(list, ",") + `]}`
	body, err := json.Marshal(map[string]string{"json": text})
	if err != nil {
		b.Fatal(err)
	}
	return string(body)
}
