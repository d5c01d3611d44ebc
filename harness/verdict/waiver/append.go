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

// Append adds the text of waivers to a file, and creates the file if necessary. The existing text is not changed. It
// writes nothing if the result would not be valid YAML.
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
		return fmt.Errorf("%s: cannot append to it: it is not a list whose items begin with -", file)
	}
	return os.WriteFile(file, data, 0o644)
}
