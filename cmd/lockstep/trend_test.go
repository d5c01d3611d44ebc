//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTrendDrawsTheRunsBelowAFolder(t *testing.T) {
	t.Parallel()
	p := recordedRuns(t, []string{"items"}, map[string]string{"history/1": "", "history/2": "other-value"})
	p.write(t, "history/old/report.json", strings.Replace(p.read("history/1/report.json"), `"format": 2`, `"format": 1`, 1))
	p.write(t, "history/alone/run.jsonl", p.read("history/1/run.jsonl"))
	p.write(t, "history/cut/run.jsonl", p.read("history/1/run.jsonl")[:900])
	out := filepath.Join(p.dir, "trend.html")
	o := p.do(t, "trend", filepath.Join(p.dir, "history"), "--output", out)
	page := p.read("trend.html")
	if o.code != exitMatch || o.stdout != "" || strings.Count(page, "<tr><td>") != 2 {
		t.Errorf("%+v\n%s", o, page)
	}
	for _, want := range []string{
		"note: not shown: old/report.json: report: it has format 1, and this lockstep reads format 2\n",
		"note: not shown: cut/run.jsonl: run file is incomplete: ",
		"the same run as ", // the same run has a run file next to its report
	} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("stderr does not say %q:\n%s", want, o.stderr)
		}
	}
	if o := p.do(t, "trend", filepath.Join(p.dir, "history")); o.stdout != page {
		t.Error("standard output has another page than the file")
	}
	for _, tc := range []struct {
		args []string
		says string
	}{
		{nil, "trend takes one folder, but got 0\n\tfix: name the folder"},
		{[]string{filepath.Join(p.dir, "nowhere")}, "nowhere: no such file or directory\n\tfix: name the folder"},
		{[]string{filepath.Join(p.dir, "scenarios")}, "no run to show in scenarios\n\tfix: `lockstep run` writes report.json"},
		{[]string{filepath.Join(p.dir, "history"), "--output", filepath.Join(p.dir, "no", "folder.html")}, "no such file or directory\n\tfix: name another file with --output"},
	} {
		if o := p.do(t, "trend", tc.args...); o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, tc.says) {
			t.Errorf("trend %q: %+v, want %q", tc.args, o, tc.says)
		}
	}
}
