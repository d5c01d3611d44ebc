package harness

// places are where scenarios run: as many at a time as there are jobs.
type places struct {
	taken chan struct{}
	left  chan struct{} // by scenarios that will want one again
}

// maxLeft bounds how many scenarios, for each job but the first, have left their places to wait.
const maxLeft = 8

func newPlaces(jobs int) places {
	return places{make(chan struct{}, jobs), make(chan struct{}, maxLeft*(jobs-1))}
}

func (p places) take()  { p.taken <- struct{}{} }
func (p places) leave() { <-p.taken }

// aside calls a function that only waits, and lets another scenario have the place meanwhile. With one job it keeps the place:
// then nothing that a scenario does can be taken for the next one's doing.
func (p places) aside(wait func()) {
	select {
	case p.left <- struct{}{}:
		p.leave()
		wait()
		p.take()
		<-p.left
	default:
		wait()
	}
}

// headStarts has targets that scenarios want for themselves started before these have their turn.
type headStarts struct {
	room     chan struct{} // for scenarios with targets of their own, from the start of these to their end
	starting chan struct{}
}

// newHeadStarts returns room for targets that start, targets that run and targets that are watched behind their scenario, for each
// processor, and for less where there are few jobs. With one job there is never more than one of each target.
func newHeadStarts(jobs, processors int) headStarts {
	return headStarts{make(chan struct{}, min(3*processors, 2*jobs-1)), make(chan struct{}, processors)}
}

// start starts a fleet as soon as there is room for it: it waits for that, and not for the targets to be ready. The channel
// returned is closed when they are, or when one will not be.
func (h headStarts) start(f *fleet) <-chan struct{} {
	h.room <- struct{}{}
	started := make(chan struct{})
	go func() {
		defer close(started)
		h.starting <- struct{}{}
		defer func() { <-h.starting }()
		f.start()
	}()
	return started
}

// end makes room: a scenario is over that had targets of its own.
func (h headStarts) end() { <-h.room }
