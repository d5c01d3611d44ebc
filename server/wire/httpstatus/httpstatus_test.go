package httpstatus_test

import (
	"testing"

	"github.com/lockstep-dev/lockstep/server/wire/httpstatus"
)

func TestOfHasTheNamesOfRFC9110Alone(t *testing.T) {
	for status, want := range map[int]string{
		200: "200 OK",
		203: "203 Non-Authoritative Information",
		306: "306",
		413: "413 Content Too Large",
		416: "416 Range Not Satisfiable",
		418: "418",
		422: "422 Unprocessable Content",
		429: "429",
		507: "507",
		599: "599",
	} {
		if got := httpstatus.Of(status); got != want {
			t.Errorf("Of(%d) = %q, want %q", status, got, want)
		}
	}
}
