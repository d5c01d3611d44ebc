package scenario

// A Setup is what the targets of a fresh scenario are started with, in addition to what the project says.
type Setup struct {
	Env   []Setting // environment variables
	Files []Setting // texts of files, by their paths in the target's directory
}

// A Setting is an environment variable or a file. Its Text may still contain names that only a target knows, as in the
// project's file: ${{ port }}, ${{ directory }}. Values of the row and repeated texts are filled in.
type Setting struct {
	Name, Text   string
	Line, Column int // of the name
}

// targetNames are the names that a target fills in in its environment and its files.
var targetNames = []string{"directory", "host", "port"}
