package waiver

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/lockstep-dev/lockstep/internal/regular"
	"github.com/lockstep-dev/lockstep/internal/yamldoc"
)

// Append adds waivers, as Skeleton returns them, to a file, which is made when it is not there. What stands in the file
// stays as it is. One that would be no YAML any more is not written.
func Append(file, text string) error {
	data, err := regular.Read(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		data = append(data, '\n')
	}
	data = append(data, text...)
	if _, problems := yamldoc.Parse(file, data); len(problems) > 0 {
		return fmt.Errorf("%s: nothing can be appended to it: it is no list whose items begin with -", file)
	}
	return os.WriteFile(file, data, 0o644)
}
