//go:build unix

package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestASiteShowsTheRunsBelowAFolder(t *testing.T) {
	t.Parallel()
	p := recordedRuns(t, []string{"items"}, map[string]string{"history/1": "", "history/2": "other-value"})
	p.write(t, "history/old/report.json", strings.Replace(p.read("history/1/report.json"), `"format": 2`, `"format": 1`, 1))
	p.write(t, "history/alone/run.jsonl", p.read("history/1/run.jsonl"))
	p.write(t, "history/cut/run.jsonl", p.read("history/1/run.jsonl")[:900])
	p.write(t, "history/1/report.html", "<script>alert(1)</script>")
	out := filepath.Join(p.dir, "public")
	o := p.do(t, "site", filepath.Join(p.dir, "history"), "--output", out)
	index := p.read("public/index.html")
	if o.code != exitMatch || !strings.HasSuffix(o.stdout, "index.html: 5 files of 2 runs\n") || strings.Count(index, `<tr><td><a href="runs/`) != 2 {
		t.Errorf("%+v\n%s", o, index)
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
	links := regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(index, -1)
	for _, link := range links {
		page := p.read("public/" + link[1])
		if strings.Contains(page, "alert(1)") || strings.HasSuffix(link[1], ".html") && !strings.Contains(page, `id="data">`) {
			t.Errorf("%s is\n%.200s", link[1], page)
		}
	}
	if len(links) < 3 {
		t.Errorf("%d links", len(links))
	}
	if second := links[len(links)-2][1]; p.read("public/"+second) != p.read("history/2/report.html") {
		t.Errorf("%s is not the page of its run", second)
	}
	for _, tc := range []struct {
		args []string
		says string
	}{
		{nil, "site takes one folder, but got 0\n\tfix: name the folder"},
		{[]string{filepath.Join(p.dir, "nowhere")}, "nowhere: no such file or directory\n\tfix: name the folder"},
		{[]string{filepath.Join(p.dir, "scenarios")}, "no run to show in scenarios\n\tfix: `lockstep run` writes report.json"},
		{[]string{filepath.Join(p.dir, "history"), "--output", filepath.Join(p.dir, "history/1/report.json")}, "not a directory\n\tfix: name another folder with --output"},
	} {
		if o := p.do(t, "site", tc.args...); o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, tc.says) {
			t.Errorf("site %q: %+v, want %q", tc.args, o, tc.says)
		}
	}
}
