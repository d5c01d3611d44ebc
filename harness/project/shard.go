package project

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
)

// A Shard is one of several parts of a run, which can run on different machines. The zero value is the whole run.
type Shard struct{ Index, Of int } // Index counts from 1

// ParseShard parses "2/8". The error is a *UsageError.
func ParseShard(text string) (Shard, error) {
	index, of, cut := strings.Cut(text, "/")
	i, ierr := strconv.Atoi(index)
	n, nerr := strconv.Atoi(of)
	s := Shard{i, n}
	if !cut || ierr != nil || nerr != nil {
		return Shard{}, &UsageError{fmt.Sprintf("%q is not a shard", text), "write its number and how many there are: 1/8 is the first of eight"}
	}
	if n < 1 {
		return Shard{}, tooFew(s)
	}
	return s, s.Validate()
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Validate returns an error when there is no such shard. The zero value is valid.
func (s Shard) Validate() error {
	switch {
	case s == Shard{}:
		return nil
	case s.Of < 1:
		return tooFew(s)
	case s.Index < 1 || s.Index > s.Of:
		return &UsageError{fmt.Sprintf("there is no shard %s", s), fmt.Sprintf("shards count from 1: write 1/%d to %d/%d", s.Of, s.Of, s.Of)}
	}
	return nil
}

func tooFew(s Shard) error {
	return &UsageError{fmt.Sprintf("there is no shard %s", s), "a run has at least one shard: 1/1"}
}

// Take returns the scenarios of the shard, in their order. The sorted ids are dealt out one by one, so shards have
// similar sizes, and the rows of a table are spread. The result depends only on the ids and the number of shards.
func (s Shard) Take(selection []*scenario.Scenario) []*scenario.Scenario {
	if s == (Shard{}) {
		return selection
	}
	ids := IDs(selection)
	slices.Sort(ids)
	var out []*scenario.Scenario
	for _, one := range selection {
		if at, _ := slices.BinarySearch(ids, one.ID); at%s.Of == s.Index-1 {
			out = append(out, one)
		}
	}
	return out
}

// EmptyError is the error of a shard that has none of the selected scenarios.
func (s Shard) EmptyError(selected int) error {
	return &UsageError{
		fmt.Sprintf("--shard %s has no scenario: only %d selected", s, selected),
		fmt.Sprintf("split into at most %d, or accept empty shards with --allow-empty", selected),
	}
}
