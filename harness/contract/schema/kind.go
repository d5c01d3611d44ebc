package schema

// A Kind names what is wrong. Waivers and saved reports contain kinds, so renaming one changes their format.
type Kind string

// The kinds that are about a value.
const (
	JSONSyntax          Kind = "json-syntax"
	JSONByteOrderMark   Kind = "json-byte-order-mark"
	JSONInvalidUTF8     Kind = "json-invalid-utf8"
	JSONDuplicateName   Kind = "json-duplicate-name"
	JSONTrailingText    Kind = "json-trailing-text"
	WrongType           Kind = "type"
	NotInEnum           Kind = "enum"
	PatternMismatch     Kind = "pattern"
	FormatMismatch      Kind = "format"
	WrongLength         Kind = "length"
	OutOfRange          Kind = "range"
	NotMultiple         Kind = "multiple-of"
	WrongItemCount      Kind = "item-count"
	RepeatedItem        Kind = "unique-items"
	WrongFieldCount     Kind = "field-count"
	WrongFieldName      Kind = "field-name"
	MissingField        Kind = "missing-field"
	ForbiddenField      Kind = "forbidden-field"
	UndocumentedField   Kind = "undocumented-field"
	ReadOnlyField       Kind = "read-only"
	WriteOnlyField      Kind = "write-only"
	UnknownAlternative  Kind = "discriminator"
	SeveralAlternatives Kind = "one-of"
	ForbiddenMatch      Kind = "not"
	MoreViolations      Kind = "more"
)
