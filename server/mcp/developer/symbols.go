package developer

import (
	"path/filepath"
	"regexp"
	"strings"
)

// A language says how a line declares something: the first group is its name. A line without a declaration may be an
// import.
type language struct{ function, class, imports *regexp.Regexp }

func newLanguage(function, class, imports string) *language {
	begin := func(pattern string) *regexp.Regexp { return regexp.MustCompile(`^\s*` + pattern) }
	return &language{begin(function), begin(class), begin(imports)}
}

// analyzed are the languages that analyze supports, by name (decision X43).
var analyzed = map[string]*language{
	"python":     newLanguage(`(?:async\s+)?def\s+(\w+)`, `class\s+(\w+)`, `(?:import|from)\s`),
	"rust":       newLanguage(`(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe)\s+)*fn\s+(\w+)`, `(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait)\s+(\w+)`, `(?:pub\s+)?use\s`),
	"javascript": newLanguage(`(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(\w+)`, `(?:export\s+)?(?:default\s+)?(?:abstract\s+)?(?:class|interface)\s+(\w+)`, `import\s`),
	"go":         newLanguage(`func\s+(?:\([^)]*\)\s*)?(\w+)`, `type\s+(\w+)(?:\[.*\])?\s+(?:struct|interface)\b`, `import\s`),
	"java":       newLanguage(`(?:(?:public|protected|private|static|final|abstract|synchronized)\s+)+[\w<>\[\], ]*?(\w+)\s*\(`, `(?:(?:public|protected|private|static|final|abstract)\s+)*(?:class|interface|enum|record)\s+(\w+)`, `import\s`),
	"kotlin":     newLanguage(`(?:\w+\s+)*fun\s+(?:<[^>]*>\s*)?(?:\w+\.)?(\w+)`, `(?:\w+\s+)*(?:class|interface|object)\s+(\w+)`, `import\s`),
	"swift":      newLanguage(`(?:\w+\s+)*func\s+(\w+)`, `(?:\w+\s+)*(?:class|struct|enum|protocol|actor)\s+(\w+)`, `import\s`),
	"ruby":       newLanguage(`def\s+(?:self\.)?(\w+[?!]?)`, `(?:class|module)\s+(\w+)`, `require(?:_relative)?\s`),
}

var analyzedEndings = map[string]string{
	".py": "python", ".rs": "rust", ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".ts": "javascript", ".tsx": "javascript",
	".go": "go", ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".swift": "swift", ".rb": "ruby",
}

// A symbol is declared or called on a line.
type symbol struct {
	name string
	line int // counted from 1
}

// A callee is a call. Its caller is the last function declared above the line, or "".
type callee struct {
	symbol
	caller string
}

// A source is what a file declares and calls.
type source struct {
	name, language     string
	lines              int
	functions, classes []symbol
	imports            []string
	calls              []callee
}

var called = regexp.MustCompile(`(\w+)\s*\(`)

// sourceOf analyses a file.
func sourceOf(name, content string) source {
	lines := linesOf(content)
	s := source{name: name, language: analyzedEndings[filepath.Ext(name)], lines: len(lines)}
	l := analyzed[s.language]
	if l == nil {
		return s
	}
	caller := ""
	for i, line := range lines {
		if found := l.class.FindStringSubmatch(line); found != nil {
			s.classes = append(s.classes, symbol{found[1], i + 1})
		} else if found := l.function.FindStringSubmatch(line); found != nil {
			caller = found[1]
			s.functions = append(s.functions, symbol{caller, i + 1})
		} else if l.imports.MatchString(line) {
			s.imports = append(s.imports, strings.TrimSpace(line))
		} else {
			for _, found := range called.FindAllStringSubmatch(line, -1) {
				s.calls = append(s.calls, callee{symbol{found[1], i + 1}, caller})
			}
		}
	}
	return s
}
