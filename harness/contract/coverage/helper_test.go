package coverage

import (
	"testing"

	"github.com/lockstep-dev/lockstep/harness/contract/internal/sample"
	"github.com/lockstep-dev/lockstep/harness/contract/spec"
	"github.com/lockstep-dev/lockstep/internal/testfile"
)

func ours(t testing.TB) (*spec.Document, []byte) {
	t.Helper()
	data := testfile.Read(t, "../../../openapi.yaml")
	return sample.Parse(t, string(data)), data
}
