package report

// What the tests of the JSON need of its making.

type File = file

var (
	Normalized = normalized
	Encode     = encode
)

func NotNil[T any](items []T) []T { return notNil(items) }
