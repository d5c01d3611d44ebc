package coverage

import (
	"os"
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
)

func ours(t testing.TB) (*spec.Document, []byte) {
	t.Helper()
	data, err := os.ReadFile("../../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return sample.Parse(t, string(data)), data
}
