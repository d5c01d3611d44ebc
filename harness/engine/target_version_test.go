package engine_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/engine"
	"github.com/lockstep-dev/lockstep/harness/internal/fauxproject"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/report/html"
	"github.com/lockstep-dev/lockstep/internal/faux"
)

func TestTheVersionsOfTheTargetsAreInTheRun(t *testing.T) {
	stated := strings.Replace(fauxproject.Running, `  right: {`, `  right: {version: {text: 1.4.2}, `, 1)
	stated = strings.Replace(stated, `  wrong: {`, `  wrong: {version: {file: lockstep.yaml}, `, 1)
	p := fauxproject.New(t, stated)
	file, result := fauxproject.Record(t, p, engine.Options{Select: project.Selection{Paths: []string{"items"}}},
		"right="+faux.Serve(t, &faux.Server{}), "wrong="+faux.Serve(t, &faux.Server{}))
	if got := result.Versions; got["right"] != "1.4.2" || len(got["wrong"]) != 16 || len(got) != 2 {
		t.Errorf("the versions are %v", got)
	}
	isJudgedAgain(t, p, file, result)
	var page bytes.Buffer
	if err := html.Write(&page, result.Document(p)); err != nil || !strings.Contains(page.String(), "right 1.4.2 (reference)") {
		t.Errorf("the page does not show the versions: %v", err)
	}
}
