package spec

import "github.com/lockstep-dev/lockstep/harness/contract/schema"

// The kinds of violations that are not about a value. Kinds of package contract describes all of them.
const (
	UndocumentedOperation schema.Kind = "undocumented-operation"
	MissingParameter      schema.Kind = "missing-parameter"
	RepeatedParameter     schema.Kind = "repeated-parameter"
	ParameterValue        schema.Kind = "parameter-value"
	UndocumentedStatus    schema.Kind = "undocumented-status"
	MissingHeader         schema.Kind = "missing-header"
	HeaderValue           schema.Kind = "header-value"
	UndocumentedMediaType schema.Kind = "undocumented-media-type"
	MissingBody           schema.Kind = "missing-body"
	UndocumentedBody      schema.Kind = "undocumented-body"
	UndocumentedEvent     schema.Kind = "undocumented-event"
	UndocumentedComment   schema.Kind = "undocumented-comment"
	EventData             schema.Kind = "event-data"
	TextInvalidUTF8       schema.Kind = "text-invalid-utf8"
)
