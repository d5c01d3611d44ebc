package reply

import (
	"errors"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/message"
)

// maxToolText is how many characters a text of a tool may have (GA 7.8).
const maxToolText = 200_000

// shortened replaces texts that are too large for a model by the path of a file that has them. A text that cannot be
// written stays.
func shortened(result message.Result[[]message.ToolContent]) message.Result[[]message.ToolContent] {
	for i, content := range result.Value {
		text, ok := content.(message.ToolText)
		if !ok || len(text.Text) <= maxToolText || utf8.RuneCountInString(text.Text) <= maxToolText {
			continue
		}
		if path, err := keep(text.Text); err == nil {
			text.Text = "The text of this tool was larger than 200000 characters. It is in the file " + path + "."
			result.Value[i] = text
		}
	}
	return result
}

// keep writes a text to a file of its own.
func keep(text string) (path string, err error) {
	dir := filepath.Join(os.TempDir(), "goose_mcp_responses")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(dir, "mcp_response_"+time.Now().UTC().Format("20060102_150405.000000")+"_*.txt")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name())) // half a text is none
	}
	return file.Name(), nil
}
