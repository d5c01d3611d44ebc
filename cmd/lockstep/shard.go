package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/project"
)

// shardFlag returns the shard that --shard selects.
func (f *runFlags) shardFlag(w *environment) (project.Shard, error) {
	switch f.shard {
	case "":
		return project.Shard{}, nil
	case "auto":
		s, from, err := shardOf(w.getenv)
		if err == nil {
			fmt.Fprintf(w.stderr, "shard %s, from %s\n", s, from)
		}
		return s, err
	}
	s, err := project.ParseShard(f.shard)
	if err != nil {
		return s, fmt.Errorf("--shard: %w", err)
	}
	return s, nil
}

// shardVariables are the environment variables in which schedulers pass the index of a job and the number of jobs.
// The first one that is set is used.
var shardVariables = []struct {
	of    string // who sets them
	index string
	total string // "" if index contains both, as in 2/8
	first int    // the lowest index
	cure  string // what to do if the total is missing
}{
	{"you", "LOCKSTEP_SHARD", "", 1, ""},
	{"Kubernetes, in an indexed Job", "JOB_COMPLETION_INDEX", "LOCKSTEP_SHARDS", 0, "a Job does not tell its pods the number of completions: set LOCKSTEP_SHARDS to it in the pod"},
	{"GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1, "set parallel: in the job"},
	{"CircleCI", "CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0, "set parallelism: in the job"},
	{"Buildkite", "BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0, "set parallelism: in the step"},
}

// shardOf reads the shard from the environment, and says which variable it used.
func shardOf(getenv func(string) string) (s project.Shard, from string, err error) {
	var names []string
	for _, v := range shardVariables {
		names = append(names, v.index)
		index := getenv(v.index)
		if index == "" {
			continue
		}
		from = v.index + "=" + index
		if v.total == "" {
			if s, err = project.ParseShard(index); err != nil {
				err = fmt.Errorf("%s: %w", v.index, err)
			}
			return s, from, err
		}
		total := getenv(v.total)
		if total == "" {
			return s, "", &project.UsageError{What: fmt.Sprintf("--shard auto: %s is set by %s, but %s is not set", from, v.of, v.total), Fix: v.cure}
		}
		from += " and " + v.total + "=" + total
		i, ierr := strconv.Atoi(index)
		n, nerr := strconv.Atoi(total)
		if ierr != nil || nerr != nil || i < v.first || i-v.first >= n {
			return s, "", &project.UsageError{What: fmt.Sprintf("--shard auto: %s is not a valid shard", from), Fix: fmt.Sprintf("%s counts from %d, and %s is the number of shards; or write --shard 1/8", v.index, v.first, v.total)}

		}
		return project.Shard{Index: i - v.first + 1, Of: n}, from, nil
	}
	return s, "", &project.UsageError{What: "--shard auto: no variable says which shard this is", Fix: "set one of " + strings.Join(names, ", ") + ", or write --shard 1/8"}
}
