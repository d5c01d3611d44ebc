package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
)

// A change is one difference between the published document and the contract.
type change struct {
	id        string // oasdiff's name for this kind of change, such as request-property-removed
	operation string // such as `POST /reply`; "" if the change is not about an operation
	text      string
}

func (c change) String() string {
	if c.operation == "" {
		return fmt.Sprintf("%s (%s)", c.text, c.id)
	}
	return fmt.Sprintf("%s: %s (%s)", c.operation, c.text, c.id)
}

// A report is the result of one comparison.
type report struct {
	operations int      // how many were compared
	excepted   int      // how many changes have a reason
	changes    []change // the changes without a reason
	stale      []string // the exceptions that are no longer needed
}

func (r report) differs() bool { return len(r.changes) > 0 || len(r.stale) > 0 }

func (r report) print(w io.Writer) {
	for _, c := range r.changes {
		fmt.Fprintln(w, c)
	}
	for _, s := range r.stale {
		fmt.Fprintln(w, s)
	}
	if r.differs() {
		fmt.Fprintln(w, "fix: change openapi.yaml, or internal/goosecontract/exceptions.yaml with the reason")
	}
	fmt.Fprintf(w, "%d operations compared: %d differences without a reason, %d with one, %d stale exceptions\n",
		r.operations, len(r.changes), r.excepted, len(r.stale))
}

func compare(in files) (report, error) {
	exceptions, err := loadExceptions(in.exceptions)
	if err != nil {
		return report{}, err
	}
	published, err := read(in.published)
	if err != nil {
		return report{}, err
	}
	contract, err := read(in.contract)
	if err != nil {
		return report{}, err
	}
	exceptions.postpone(published, contract)
	out := report{operations: published.operations()}
	if out.operations == 0 {
		return report{}, fmt.Errorf("%s has no operation that is to be compared", in.published)
	}
	all, err := changes(published, contract)
	if err != nil {
		return report{}, err
	}
	for _, c := range all {
		if exceptions.cover(c) {
			out.excepted++
		} else {
			out.changes = append(out.changes, c)
		}
	}
	out.stale = exceptions.stale()
	return out, nil
}

// changes lists the differences that matter: those that break a client of the published document, and those in
// [alsoDemanded].
func changes(published, contract *document) ([]change, error) {
	found, sources, err := diff.GetWithOperationsSourcesMap(diff.NewConfig(), published.flat, contract.flat)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", published.file, contract.file, err)
	}
	var out []change
	config := checker.NewConfig(checker.GetAllChecks())
	for _, c := range checker.CheckBackwardCompatibilityUntilLevel(config, found, sources, checker.INFO) {
		if c.GetLevel() < checker.WARN && !slices.Contains(alsoDemanded, c.GetId()) {
			continue
		}
		operation := ""
		if c.GetPath() != "" {
			operation = c.GetOperation() + " " + c.GetPath()
		}
		out = append(out, change{id: c.GetId(), operation: operation, text: c.GetUncolorizedText(checker.NewDefaultLocalizer())})
	}
	return out, nil
}

// alsoDemanded are changes that oasdiff accepts because they break no client. They still mean that the contract lacks
// a part of the published document.
var alsoDemanded = []string{
	"api-schema-removed",
	"optional-response-header-removed",
	"request-body-became-optional",
	"request-parameter-became-optional",
	"request-property-became-optional",
	"response-body-any-of-removed",
	"response-body-one-of-removed",
	"response-mediatype-enum-value-removed",
	"response-non-success-status-removed",
	"response-optional-property-removed",
	"response-property-any-of-removed",
	"response-property-enum-value-removed",
	"response-property-one-of-removed",
}
