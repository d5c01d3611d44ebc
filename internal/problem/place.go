package problem

// A Place is where a line of a document comes from that was joined from several files.
type Place struct {
	File         string
	Line, Column int
	// RootLine is a line of the first file: that of the place itself, or of the reference that leads to its file.
	RootLine int
}
