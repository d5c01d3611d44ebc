package contract

import "github.com/lockstep-dev/lockstep/internal/problem"

// Problems are the mistakes of a document, in the order of its lines. Parse returns all of them as its error.
type (
	Problem  = problem.Problem
	Problems = problem.Problems
)

// in returns the problems in the order of the document, each once and with its file's name.
func in(file string, ps Problems) Problems {
	for i := range ps {
		ps[i].File = file
	}
	return ps.Sort()
}
