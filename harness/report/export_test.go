package report

// These functions are exported for the tests of the JSON.

type File = file

var (
	Normalized = normalized
	Encode     = encode
)

func NotNil[T any](items []T) []T { return notNil(items) }
