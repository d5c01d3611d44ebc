package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lockstep-dev/lockstep/harness/project"
)

// Limits of a document that is fetched.
const (
	maxDownload   = 64 << 20
	maxRedirects  = 5
	downloadLimit = time.Minute
)

// download saves the document at a URL in a folder, as openapi.json or openapi.yaml, and returns the file's path. It
// overwrites nothing.
func download(ctx context.Context, from, dir string) (string, error) {
	fail := func(what string, args ...any) error {
		return &project.UsageError{What: visibleURL(from) + ": " + fmt.Sprintf(what, args...), Fix: "save the document, and name the file: lockstep init openapi.yaml"}
	}
	ctx, cancel := context.WithTimeout(ctx, downloadLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return "", fail("this is not a URL")
	}
	req.Header.Set("Accept", "application/yaml, application/json, */*;q=0.5")
	client := &http.Client{CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		return nil
	}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		if cause, ok := errors.AsType[*url.Error](err); ok { // which repeats the URL, with its password
			err = cause.Err
		}
		return "", fail("%v", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fail("the server answers %s", res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxDownload+1))
	if err != nil {
		return "", fail("%v", err)
	}
	if len(data) > maxDownload {
		return "", fail("the document has more than %d MiB", maxDownload>>20)
	}
	name := "openapi.yaml"
	if strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		name = "openapi.json"
	}
	file := filepath.Join(dir, name)
	if err := writeNew(file, data); errors.Is(err, fs.ErrExist) {
		return "", &project.UsageError{What: file + " already exists", Fix: "use it: lockstep init " + file + ", or another folder"}
	} else if err != nil {
		return "", errors.Join(err, os.Remove(file))
	}
	return file, nil
}

// visibleURL returns a URL without its password.
func visibleURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "the URL"
	}
	return u.Redacted()
}
