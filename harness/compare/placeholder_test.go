package compare

import (
	"testing"

	"github.com/lockstep-dev/lockstep/harness/compare/ident"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

func TestAShapeHasNoValueOfTheRun(t *testing.T) {
	own, err := ident.NewIDShape("order", `ord-(\d+)`, "lockstep.yaml:1:1")
	if err != nil {
		t.Fatal(err)
	}
	shape := (&Rules{IDs: []ident.IDShape{own}}).Shape(&transcript.Transcript{Unique: "uywb4r2r3hqx", Directory: "/var/lockstep-2417"})
	for text, want := range map[string]string{
		"/nope":                                   "/nope",
		"/nope/c-uywb4r2r3hqx/..":                 "/nope/c-{…}/..",
		`\nope\c-uywb4r2r3hqx`:                    `\nope\c-{…}`,
		"/uywb4r2r3hqx/x/uywb4r2r3hqx":            "/{…}/x/{…}",
		"/items/itm_0f3a5c7e9b1d2f4a6c8e/x":       "/items/itm_{…}/x",
		"/x/0b8f2c6e-4a57-4f0e-9d51-6a1c2b3":      "/x/0b8f2c6e-4a57-4f0e-9d51-6a1c2b3",
		"/x/0b8f2c6e-4a57-4f0e-9d51-6a1c2b3d4e5f": "/x/{…}",
		"/orders/ord-17/lines/3":                  "/orders/ord-{…}/lines/{…}",
		"/v1/2nd/17x//":                           "/v1/2nd/17x//",
		"/files/var/lockstep-2417/notes":          "/files{…}/notes",
		"418":                                     "418",
		"":                                        "",
	} {
		if got := shape(text); got != want {
			t.Errorf("Shape(%q) = %q, want %q", text, got, want)
		}
	}
	if got := (&Rules{}).Shape(&transcript.Transcript{})("/c-uywb4r2r3hqx"); got != "/c-uywb4r2r3hqx" {
		t.Errorf("without a value of the client's: %q", got)
	}
}
