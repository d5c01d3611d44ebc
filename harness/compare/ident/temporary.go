package ident

import "strings"

// Names below a folder for temporary files are made up, one segment of the path: "x7Yz12" of "/tmp/agent-x7Yz12/out.txt".
// Words before it, each with its joint, are part of how it is made, and are compared, as is what kind of file it is.

// tempRoots are the folders for temporary files; * stands for any name.
var tempRoots = [][]string{
	{"tmp"}, {"var", "tmp"}, {"private", "tmp"}, {"private", "var", "tmp"},
	{"var", "folders", "*", "*", "T"}, {"private", "var", "folders", "*", "*", "T"},
}

// tempAt recognises the name behind the root of temporary files that begins at i with a slash.
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

// rootLen returns the length of a folder and the slash behind it; 0 when the path is not below it.
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

// slashLen returns the length of the slash that a text begins with, which may be percent-encoded.
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

// segmentLen returns the length of the name that a text begins with.
func segmentLen(s string) int {
	n := 0
	for n < len(s) && (InNano[s[n]] || s[n] == '.') {
		n++
	}
	return n
}

// tempName makes a token of the name that stands at a place. There is none when a word of the name is an id by itself, or
// when nothing of it may be made up.
func (in *segment) tempName(at int) (token, bool) {
	name := in.text[at : at+segmentLen(in.text[at:])]
	if in.cutByKnown && at+len(name) == len(in.text) {
		return token{}, false
	}
	name = strings.TrimRight(name, ".") // of the sentence
	end := at + len(name)
	for _, t := range scanShapes(nil, in.text[:end], at, end) {
		if !t.Kind.IsTime() {
			return token{}, false
		}
	}
	lead := wordsLen(name)
	if i := strings.LastIndexByte(name, '.'); i >= 0 && isSuffix(name[i+1:]) {
		if i < lead {
			return token{}, false // "report.json"
		}
		end = at + i
	}
	return token{Kind: tokTemp, Start: at, End: end, prefix: lead}, end > at+lead
}

// wordsLen returns how long the words are that a name begins with: small letters, each word with a dash or a point behind
// it.
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

// isSuffix reports whether the end of a name says what kind of file it is.
func isSuffix(s string) bool {
	return len(s) > 0 && len(s) <= 4 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}
