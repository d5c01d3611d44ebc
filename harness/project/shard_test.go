package project

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/scenario"
)

func numbered(n int) []*scenario.Scenario {
	out := make([]*scenario.Scenario, n)
	for i := range out {
		out[i] = &scenario.Scenario{ID: fmt.Sprintf("s%d", i)}
	}
	return out
}

func TestEveryScenarioIsInOneShardAndShardsHaveSimilarSizes(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 9, 517} {
		all := numbered(n)
		for _, of := range []int{1, 2, 3, 8, 64} {
			seen := map[string]int{}
			least, most := n, 0
			for i := 1; i <= of; i++ {
				part := Shard{i, of}.Take(all)
				least, most = min(least, len(part)), max(most, len(part))
				for _, s := range part {
					seen[s.ID]++
				}
			}
			if len(seen) != n || most-least > 1 {
				t.Errorf("%d scenarios in %d shards: %d are in one, with %d to %d each", n, of, len(seen), least, most)
			}
			for id, times := range seen {
				if times != 1 {
					t.Errorf("%d scenarios in %d shards: %s is in %d of them", n, of, id, times)
				}
			}
		}
	}
}

func TestNothingButTheIDsDecidesTheShard(t *testing.T) {
	all := numbered(100)
	back := slices.Clone(all)
	slices.Reverse(back)
	one, other := Shard{2, 7}.Take(all), Shard{2, 7}.Take(back)
	slices.Reverse(other)
	if !slices.Equal(one, other) {
		t.Errorf("%v and %v", IDs(one), IDs(other))
	}
	if whole := (Shard{}).Take(all); len(whole) != 100 {
		t.Errorf("the whole has %d", len(whole))
	}
}

func TestParseShard(t *testing.T) {
	for text, want := range map[string]Shard{"1/1": {1, 1}, "2/8": {2, 8}, "8/8": {8, 8}} {
		if got, err := ParseShard(text); err != nil || got != want {
			t.Errorf("ParseShard(%q) = %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "is not a shard", "2": "is not a shard", "a/b": "is not a shard", "2/8/9": "is not a shard", "1.5/2": "is not a shard",
		"0/8": "shards count from 1: write 1/8 to 8/8", "9/8": "there is no shard 9/8", "-1/8": "there is no shard", "1/0": "at least one shard", "0/0": "at least one shard", "1/-1": "at least one shard",
	} {
		if got, err := ParseShard(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseShard(%q) = %v, %v; want %q", text, got, err, want)
		}
	}
}
