package harness

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/harness/transcript"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// A Shard is one of several parts of a run, which run on machines of their own. The zero value is the whole.
type Shard struct{ Index, Of int } // Index counts from 1

// ParseShard reads "2/8". The error is a *UsageError.
func ParseShard(text string) (Shard, error) {
	index, of, cut := strings.Cut(text, "/")
	i, ierr := strconv.Atoi(index)
	n, nerr := strconv.Atoi(of)
	s := Shard{i, n}
	if !cut || ierr != nil || nerr != nil {
		return Shard{}, &UsageError{fmt.Sprintf("%q is no shard", text), "write which one of how many, the first of eight as 1/8"}
	}
	if n < 1 {
		return Shard{}, tooFew(s)
	}
	return s, s.validate()
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

func (s Shard) validate() error {
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
	return &UsageError{fmt.Sprintf("there is no shard %s", s), "a run has one shard at least: 1/1"}
}

// take returns the scenarios of the shard, in their order. The ids, sorted, are dealt out one by one: shards have alike
// numbers, rows of a table are spread, and nothing but the ids and the number of shards decides.
func (s Shard) take(selection []*scenario.Scenario) []*scenario.Scenario {
	if s == (Shard{}) {
		return selection
	}
	ids := idsOf(selection)
	slices.Sort(ids)
	var out []*scenario.Scenario
	for _, one := range selection {
		if at, _ := slices.BinarySearch(ids, one.ID); at%s.Of == s.Index-1 {
			out = append(out, one)
		}
	}
	return out
}

// empty is the error of a shard that has none of the selected scenarios.
func (s Shard) empty(selected int) error {
	return &UsageError{
		fmt.Sprintf("--shard %s has no scenario: only %d selected", s, selected),
		fmt.Sprintf("split into %d at most, or accept empty shards with --allow-empty", selected),
	}
}

// of says which part of a selection it is; nil for the whole.
func (s Shard) of(selection []*scenario.Scenario) *verdict.Shard {
	if s == (Shard{}) {
		return nil
	}
	return &verdict.Shard{Index: s.Index, Of: s.Of, Selected: len(selection)}
}

// shardOf says which part of a run a run file has.
func shardOf(h *transcript.RunHeader) *verdict.Shard {
	if h.Shard == nil {
		return nil
	}
	return &verdict.Shard{Index: h.Shard.Index, Of: h.Shard.Of, Selected: len(h.Shard.Selection)}
}

// commonSeed is the seed that all shards of a run come to by themselves, from what they run.
func (p *Project) commonSeed(selection []*scenario.Scenario) uint64 {
	text := strings.Join(slices.Concat([]string{p.sums.contract, p.sums.scenarios, p.sums.rules}, idsOf(selection)), "\n")
	digest := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(digest[:])>>11 | 1
}

// selectionSum names a selection in a line.
func selectionSum(ids []string) string {
	digest := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return hex.EncodeToString(digest[:4])
}

// shardNames writes shards as a list.
func shardNames(indexes []int, of int) string {
	slices.SortFunc(indexes, cmp.Compare)
	names := make([]string, len(indexes))
	for i, n := range indexes {
		names[i] = Shard{n, of}.String()
	}
	return strings.Join(names, ", ")
}
