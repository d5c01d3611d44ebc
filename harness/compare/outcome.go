package compare

import (
	"strconv"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/compare/diff"
	"github.com/lockstep-dev/lockstep/harness/transcript"
)

// canceled reports whether lockstep gave up an exchange.
func canceled(x *transcript.Exchange) bool { return x.Failure != nil && !broke(x) }

// broke reports whether the server broke the exchange. One that lockstep gave up does not count: how it would have
// ended is unknown.
func broke(x *transcript.Exchange) bool {
	return x.Failure != nil && x.Failure.Kind != transcript.FailCanceled
}

func outcome(x *transcript.Exchange) string {
	switch {
	case canceled(x):
		return "no answer until its client hung up"
	case x.Failure != nil:
		return x.Failure.Text
	case x.Response != nil:
		return strconv.Itoa(x.Response.Status)
	default:
		return diff.Absent
	}
}

// operationOf returns the method and the path of a request, without the query.
func operationOf(x *transcript.Exchange) string {
	target, _, _ := strings.Cut(x.Request.Target, "?")
	return x.Request.Method + " " + target
}

func succeeded(x *transcript.Exchange) bool { return x.Response.Status/100 == 2 }

// hasBody reports whether a response is complete and may have a body.
func hasBody(x *transcript.Exchange) bool {
	return x.Response != nil && x.Failure == nil && x.Request.Method != "HEAD"
}

// givenUp reports whether the scenario hangs up on the step's exchange instead of waiting for the outcome.
func givenUp(s *transcript.Step) bool { return s.Kind == "close" || s.Kind == "drop" }

// unexpectedKind is the kind of the unmet demand about requests that no rule answers.
const unexpectedKind = "unexpected"

func isUnexpected(s *transcript.Step) bool { return s.Unmet != nil && s.Unmet.Kind == unexpectedKind }
