package mutate

import (
	"strconv"

	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// statusOperators answer with another status; headers and body stay.
var statusOperators = []Operator{
	status("class", "It fails where it should succeed, and the other way round", func(n int) int {
		if n/100 == 2 {
			return 500
		}
		return 200
	}),
	status("neighbour", "It answers with the next status of the same class", func(n int) int {
		if n%100 == 99 {
			return n - 1
		}
		return n + 1
	}),
	status("redirect", "It sends the client elsewhere", func(int) int { return 302 }),
	status("general", "It answers with the general status of the class: 200, 400, 500", func(n int) int { return n / 100 * 100 }),
	status("unavailable", "It says that it is busy", func(int) int { return 503 }),
}

func status(name, doc string, change func(int) int) Operator {
	return operator("status", name, doc, func(s *Subject, _ uint64, yield emit) {
		s.answers(func(a *answer) bool {
			was := a.x.Response.Status
			after := change(was)
			if after == was {
				return true
			}
			return yield(Mutant{
				Place: a.where + " status", Before: strconv.Itoa(was), After: strconv.Itoa(after), site: a.site(),
				Build: func() *transcript.Transcript {
					return s.withExchange(a.step, a.index, func(x *transcript.Exchange) { x.Response.Status = after })
				},
			})
		})
	})
}
