package harness

import (
	"errors"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/draft"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// NewDraft makes a first project of an OpenAPI document: what a lockstep.yaml and the scenarios could be. It writes
// nothing. The error is scenario.Problems when the document has mistakes.
func NewDraft(file string, options *draft.Options) (*draft.Draft, error) {
	data, err := regular.Read(file)
	if err != nil {
		return nil, &UsageError{err.Error(), "name the OpenAPI document: lockstep init path/to/openapi.yaml"}
	}
	doc, err := contract.Parse(data, &contract.Options{File: file})
	if problems, ok := errors.AsType[contract.Problems](err); ok {
		var out scenario.Problems
		for _, p := range problems {
			out = append(out, scenario.Problem(p))
		}
		return nil, out
	}
	return draft.New(data, doc, options)
}
