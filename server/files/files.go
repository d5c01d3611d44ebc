// Package files reads files that others have written, up to a maximum size, and writes files that only the user of
// the server can read (decision G13).
package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"unicode/utf8"
)

// These errors say why a file is not read, in addition to errors of package os.
var (
	ErrNotPlain = errors.New("it is no plain file")
	ErrTooLarge = errors.New("it is too large")
	ErrNotUTF8  = errors.New("it is not UTF-8")
)

// Read returns the content of a regular file, or of one that a link leads to, up to a maximum size. It does not open
// anything else, because that could block forever.
func Read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err := plain(path, info, err); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err = file.Stat() // the path may lead to another file by now
	if err := plain(path, info, err); err != nil {
		return nil, err
	}
	content := bytes.NewBuffer(make([]byte, 0, min(info.Size(), limit)+bytes.MinRead))
	if _, err := content.ReadFrom(io.LimitReader(file, limit+1)); err != nil {
		return nil, err
	}
	if int64(content.Len()) > limit {
		return nil, &os.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return content.Bytes(), nil
}

// plain returns why a file is no regular one, or the error of looking at it.
func plain(path string, info os.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		return &os.PathError{Op: "read", Path: path, Err: ErrNotPlain}
	}
	return err
}

// IsMissing reports whether an error says that a path does not exist, also because it is below a file.
func IsMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// ReadText is [Read] for UTF-8 texts.
func ReadText(path string, limit int64) (string, error) {
	content, err := Read(path, limit)
	if err == nil && !utf8.Valid(content) {
		return "", &os.PathError{Op: "read", Path: path, Err: ErrNotUTF8}
	}
	return string(content), err
}
