package ident

import "strings"

// In a path below a directory for temporary files, one segment has a generated name: "x7Yz12" in
// "/tmp/agent-x7Yz12/out.txt". The words before the generated part, each followed by - or ., are compared. So is the
// suffix of a file.

// tempRoots are the directories for temporary files; * matches any name.
var tempRoots = [][]string{
	{"tmp"}, {"var", "tmp"}, {"private", "tmp"}, {"private", "var", "tmp"},
	{"var", "folders", "*", "*", "T"}, {"private", "var", "folders", "*", "*", "T"},
}

// tempAt recognises the name below a directory for temporary files, if such a path begins at i.
func (in *segment) tempAt(i int) (token, bool) {
	n := slashLen(in.text[i:])
	if n == 0 || i+n == len(in.text) || strings.IndexByte("tvp", in.text[i+n]) < 0 {
		return token{}, false
	}
	if i > in.wordStart && (InNano[in.text[i-1]] || in.text[i-1] == '.' || in.text[i-1] == '~') {
		return token{}, false // a part of a longer path
	}
	for _, root := range tempRoots {
		if at := i + rootLen(in.text[i:], root); at > i {
			return in.tempName(at)
		}
	}
	return token{}, false
}

// rootLen returns the length of a directory and the slash behind it; 0 when the path is not below that directory.
func rootLen(s string, root []string) int {
	at := slashLen(s)
	for _, name := range root {
		n := segmentLen(s[at:])
		if name != "*" && s[at:at+n] != name {
			return 0
		}
		slash := slashLen(s[at+n:])
		if slash == 0 || n == 0 {
			return 0
		}
		at += n + slash
	}
	return at
}

// slashLen returns the length of the slash at the start of a text, which may be percent-encoded; 0 when there is none.
func slashLen(s string) int {
	switch {
	case s == "":
		return 0
	case s[0] == '/':
		return 1
	case len(s) >= 3 && (s[:3] == "%2F" || s[:3] == "%2f"):
		return 3
	}
	return 0
}

// segmentLen returns the length of the path segment at the start of a text.
func segmentLen(s string) int {
	n := 0
	for n < len(s) && (InNano[s[n]] || s[n] == '.') {
		n++
	}
	return n
}

// tempName returns a token for the name at a position. It finds none when a word of the name is an id by itself, or
// when no part of the name can be generated.
func (in *segment) tempName(at int) (token, bool) {
	name := in.text[at : at+segmentLen(in.text[at:])]
	if in.cutByKnown && at+len(name) == len(in.text) {
		return token{}, false
	}
	name = strings.TrimRight(name, ".") // the points that end a sentence
	end := at + len(name)
	for _, t := range scanShapes(nil, in.text[:end], at, end) {
		if !t.Kind.IsTime() {
			return token{}, false
		}
	}
	lead := wordsLen(name)
	if i := strings.LastIndexByte(name, '.'); i >= 0 && isSuffix(name[i+1:]) {
		if i < lead {
			return token{}, false // a name without a generated part: "report.json"
		}
		end = at + i
	}
	return token{Kind: tokTemp, Start: at, End: end, prefix: lead}, end > at+lead
}

// wordsLen returns the length of the words at the start of a name: lower-case letters, with a dash or a point behind
// each word.
func wordsLen(name string) int {
	end := 0
	for i := range len(name) - 1 {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z':
		case (c == '-' || c == '.') && i > end:
			end = i + 1
		default:
			return end
		}
	}
	return end
}

// isSuffix reports whether a text can be the suffix of a file.
func isSuffix(s string) bool {
	return len(s) > 0 && len(s) <= 4 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}
