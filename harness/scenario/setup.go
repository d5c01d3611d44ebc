package scenario

// A Setup is what the targets of a fresh scenario are started with, beside what the project says of them.
type Setup struct {
	Env   []Setting // environment variables
	Files []Setting // texts of files, by their path below the directory of the target
}

// A Setting is one of them. Its Text may still name what only a target knows, as in the project's file: ${{ port }},
// ${{ directory }}. The row's values and repeated texts are in it.
type Setting struct {
	Name, Text   string
	Line, Column int // of the name
}

// targetNames are what a target itself replaces in its environment and its files.
var targetNames = []string{"directory", "host", "port"}
