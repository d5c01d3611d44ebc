package spec

import (
	"strings"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func TestSourceFindsLines(t *testing.T) {
	data := testfile.Text(t, "../../../openapi.yaml")
	src := newSource([]byte(data))
	lines := strings.Split(data, "\n")
	for ref, want := range map[string]string{
		"#/openapi":                                 "openapi: 3.0.3",
		"#/info/title":                              "title: Agent server",
		"#/servers/0/url":                           "- url: /",
		"#/tags/1/description":                      "description: Events of the server",
		"#/paths/~1event/get/parameters/1":          "- $ref: '#/components/parameters/DirectoryHeader'",
		"#/paths/~1event/get/parameters/1/$ref":     "- $ref: '#/components/parameters/DirectoryHeader'",
		"#/paths/~1event/get/responses/400":         "'400':",
		"#/components/schemas/NoData/enum/0":        "enum: ['']",
		"#/components/schemas/StreamEvent/oneOf/10": "- $ref: '#/components/schemas/InstanceDisposedEvent'",
		"#/components/schemas/Nope":                 "schemas:",
		"#/nope":                                    "",
	} {
		got := ""
		if line := src.Line(ref); line > 0 {
			got = strings.TrimSpace(lines[line-1])
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("line(%s) is %q, want %q", ref, got, want)
		}
	}
}
