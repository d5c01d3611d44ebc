package compare

import "strconv"

// mostDifferences is how many differences of one exchange, and of one stream, are reported one by one. How many more there are is
// the last difference. So what is kept of a body, and the time it takes to describe it, do not grow with what a server
// makes of it.
const mostDifferences = 200

// A message is what differences are counted by: an exchange, or a stream.
type message struct {
	step, stream string
	exchange     int
}

// A tally counts the differences of a message.
type tally struct {
	message
	kept, more int
}

// tallyOf returns the count that a difference belongs to.
func (c *comparison) tallyOf(d *Difference) *tally {
	m := message{d.Step, d.Stream, d.Exchange}
	if d.Stream != "" {
		m = message{stream: d.Stream}
	}
	t := c.tallies[m]
	if t == nil {
		t = &tally{message: m}
		put(&c.tallies, m, t)
		c.tallied = append(c.tallied, t)
	}
	return t
}

// keep reports whether a difference is one of those that are reported one by one.
func (c *comparison) keep(d *Difference) bool {
	t := c.tallyOf(d)
	switch {
	case d.Kind == MoreDiffer:
		t.more += d.more
		return false
	case t.kept == mostDifferences:
		t.more++
		return false
	}
	t.kept++
	return true
}

// more adds how many differences were left out of each message.
func (c *comparison) more() {
	for _, t := range c.tallied {
		if t.more == 0 {
			continue
		}
		d := Difference{
			Kind: MoreDiffer, Step: t.step, Exchange: t.exchange, Stream: t.stream, Events: [2]int{-1, -1}, Place: "all of it", At: both("all of it"),
			Reference: absent, Candidate: absent, Text: strconv.Itoa(t.more) + " more differences are not listed", Fingerprint: digest(strconv.Itoa(t.more)),
		}
		for i := range c.result.Differences { // where the others of a stream stand
			if o := &c.result.Differences[i]; t.stream != "" && o.Stream == t.stream {
				d.Step, d.Exchange = o.Step, o.Exchange
			}
		}
		d.Fingerprint = c.fingerprint(&d)
		c.result.Differences = append(c.result.Differences, d)
	}
}

// A firstOf passes on the differences of one content until there are too many, and counts the others.
type firstOf struct {
	report func(Difference)
	n      int
}

func (b *firstOf) full() bool { return b.n >= mostDifferences }

func (b *firstOf) add(d Difference) {
	if !b.full() {
		b.report(d)
	}
	b.n++
}

// close reports how many were left out.
func (b *firstOf) close() {
	if b.n > mostDifferences {
		b.report(Difference{Kind: MoreDiffer, more: b.n - mostDifferences})
	}
}
