// Package osv looks up in a database of open-source vulnerabilities whether a package is known malware (GA 29.3).
package osv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// endpoint is the default address.
const endpoint = "https://api.osv.dev/v1/query"

// These bounds limit a lookup (decision X10).
const (
	timeout  = 10 * time.Second // for all pages
	maxPages = 10
	maxBytes = 4 << 20 // per page
)

// A Database answers questions about packages.
type Database struct {
	endpoint string
	client   *http.Client
}

// New returns the database at an address, or that of osv.dev if the address is not a URL.
func New(address string, transport http.RoundTripper) *Database {
	if where, err := url.Parse(address); err != nil || where.Scheme != "http" && where.Scheme != "https" || where.Host == "" {
		address = endpoint
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Database{address, &http.Client{Transport: transport, Timeout: timeout, CheckRedirect: noRedirect}}
}

// A Package is a package that a command fetches and runs.
type Package struct {
	Ecosystem, Name string
	Version         string // "" means any
}

// Of returns the package that a command runs, if the command is one that fetches packages.
func Of(command string, args []string) (p Package, ok bool) {
	switch {
	case strings.HasSuffix(command, "npx"):
		p.Ecosystem = "npm"
	case strings.HasSuffix(command, "uvx"):
		p.Ecosystem = "PyPI"
	default:
		return p, false
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		p.Name = arg
		if p.Ecosystem == "PyPI" {
			p.Name, p.Version, _ = strings.Cut(arg, "==")
		} else if at := strings.LastIndexByte(arg, '@'); at > 0 { // not the @ of a scope
			p.Name, p.Version = arg[:at], arg[at+1:]
		}
		if p.Version == "latest" && p.Ecosystem == "npm" {
			p.Version = ""
		}
		return p, p.Name != ""
	}
	return p, false
}

// String returns the package as messages show it.
func (p Package) String() string {
	version := p.Version
	if version == "" {
		version = "<any>"
	}
	return fmt.Sprintf("%s@%s (%s)", p.Name, version, p.Ecosystem)
}

type query struct {
	Version string `json:"version,omitempty"`
	Package struct {
		Name      string `json:"name"`
		Ecosystem string `json:"ecosystem"`
	} `json:"package"`
	PageToken string `json:"page_token,omitempty"`
}

type page struct {
	Vulns []struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	} `json:"vulns"`
	Next string `json:"next_page_token"`
}

// Harm returns the known advisories about malware in a package, or "" if there are none. The error means that the
// lookup failed.
func (d *Database) Harm(ctx context.Context, p Package) (advisories string, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	q := query{Version: p.Version}
	q.Package.Name, q.Package.Ecosystem = p.Name, p.Ecosystem
	var found []string
	for range maxPages {
		answer, err := d.ask(ctx, q)
		if err != nil {
			return "", fmt.Errorf("look up %s: %w", p, err)
		}
		for _, vuln := range answer.Vulns {
			switch {
			case !strings.HasPrefix(vuln.ID, "MAL-"):
			case vuln.Summary == "":
				found = append(found, vuln.ID)
			default:
				found = append(found, vuln.ID+" — "+vuln.Summary)
			}
		}
		if q.PageToken = answer.Next; q.PageToken == "" {
			break
		}
	}
	return strings.Join(found, "; "), nil
}

// ask requests one page.
func (d *Database) ask(ctx context.Context, q query) (answer page, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return answer, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.endpoint, bytes.NewReader(body))
	if err != nil {
		return answer, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "goose-osv-check/1.1 (+https://osv.dev)")
	response, err := d.client.Do(request)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return answer, errors.New(response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBytes+1))
	if err == nil && len(text) > maxBytes {
		err = fmt.Errorf("more than %d bytes", maxBytes)
	}
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	return answer, err
}
