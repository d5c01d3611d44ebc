//go:build unix

package pool

import (
	"os"
	"testing"

	"github.com/lockstep-dev/lockstep/internal/memnet/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.RunPrograms(m)) }
