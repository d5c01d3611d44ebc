// Package toolguard rates how dangerous a tool call looks (GA 18.1, decision M64). It reads only the texts of the call,
// whatever the tool is. That finds what a careless model writes; it does not stop anyone who wants to get around it.
package toolguard

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A Finding is what a call seems to do.
type Finding struct {
	What       string
	Confidence float64 // from 0 to 1
}

// Prompt is the text that the user sees.
func (f Finding) Prompt() string {
	return fmt.Sprintf("🔒 Security Alert: this call looks dangerous.\n\nFinding: %s\nConfidence: %d%%", f.What, int(math.Round(f.Confidence*100)))
}

// A rule finds something in a text. Expressions are those of RE2: they take time in proportion to the text, and to how often
// they repeat, so that hostile texts have to be short.
type rule struct {
	Finding
	// words are in every text that the expression finds something in, one of each group. To look for them first takes
	// nearly no time.
	words      [][]string
	expression *regexp.Regexp
}

func (r rule) finds(text string) bool {
	for _, group := range r.words {
		if !slices.ContainsFunc(group, func(word string) bool { return strings.Contains(text, word) }) {
			return false
		}
	}
	return r.expression.MatchString(text)
}

// rules are those of docs/behaviour/goose-api.md, the highest confidence first. The first of several findings counts.
var rules = []rule{
	{Finding{"Deletes the root or the home directory", 0.95}, [][]string{{"rm"}, {"-"}}, regexp.MustCompile(
		`\brm([ \t]+-[A-Za-z-]{1,32}){1,8}[ \t]+["']?(/|~|\$HOME|\$\{HOME\})/?\*?["']?([ \t\n;&|)]|$)`)},
	{Finding{"Overwrites a disk", 0.95}, [][]string{{"/dev/"}, {"of=", ">"}}, regexp.MustCompile(
		`(\bdd[ \t][^\n;&|]{0,200}\bof=|>[ \t]{0,8})["']?/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk)[a-z0-9]`)},
	{Finding{"Makes a file system", 0.95}, [][]string{{"mkfs"}, {"/dev/"}}, regexp.MustCompile(
		`\bmkfs(\.[a-z0-9]{1,16})?[ \t][^\n;&|]{0,200}/dev/[a-z]`)},
	{Finding{"Runs a fork bomb", 0.95}, [][]string{{":"}, {"{"}, {"|"}, {"&"}}, regexp.MustCompile(
		`:[ \t]{0,8}\([ \t]{0,8}\)[ \t]{0,8}\{[ \t\n]{0,8}:[ \t]{0,8}\|[ \t]{0,8}:[ \t]{0,8}&`)},
	{Finding{"Runs a script from the network", 0.95}, [][]string{{"curl", "wget"}, {"|"}, {"sh"}}, regexp.MustCompile(
		`\b(curl|wget)[ \t][^\n|]{0,800}\|[ \t]{0,8}(sudo[ \t]{1,8})?(ba|z|k|da)?sh\b`)},
	{Finding{"Opens a shell to the network", 0.95}, [][]string{{"/dev/tcp/", "/dev/udp/", "/bin/"}}, regexp.MustCompile(
		`(/dev/(tcp|udp)/[^ \t\n]|\b(nc|ncat|netcat)[ \t][^\n;&|]{0,200}-[a-z]{0,8}e[ \t]{1,8}["']?/bin/)`)},
	{Finding{"Deletes a directory of the system", 0.75}, [][]string{{"rm"}, {"-"}, {"/"}}, regexp.MustCompile(
		`\brm([ \t]+-[A-Za-z-]{1,32}){1,8}[ \t]+["']?/(bin|boot|dev|etc|home|lib|opt|root|sbin|srv|sys|usr|var)/?\*?["']?([ \t\n;&|)]|$)`)},
	{Finding{"Reads secrets", 0.75}, [][]string{{".ssh/id_", ".aws/credentials", ".gnupg/private-keys", "/etc/shadow"}}, regexp.MustCompile(
		`(\.ssh/id_(rsa|dsa|ecdsa|ed25519)([^.A-Za-z0-9_]|$)|\.aws/credentials|\.gnupg/private-keys|/etc/shadow)`)},
	{Finding{"Runs a script that is encoded", 0.75}, [][]string{{"base64"}, {"|"}, {"sh"}}, regexp.MustCompile(
		`\bbase64[ \t]+(-d|-D|--decode)[^\n;|]{0,200}\|[ \t]{0,8}(sudo[ \t]{1,8})?(ba|z|k|da)?sh\b`)},
	{Finding{"Lets everybody write", 0.6}, [][]string{{"chmod"}, {"777"}}, regexp.MustCompile(
		`\bchmod([ \t]+-[A-Za-z]{1,8}){0,4}[ \t]+0?777[ \t]`)},
	{Finding{"Runs a command as root", 0.45}, [][]string{{"sudo"}}, regexp.MustCompile(
		`\bsudo[ \t]`)},
}

// maxText is how much of a text is looked at, in bytes.
const maxText = 64 << 10

// Judge returns the worst that the texts among the values of an object show, the first of the table if several are as bad,
// and false if they show nothing.
func Judge(arguments json.RawMessage) (worst Finding, found bool) {
	value, err := jsonwire.Parse(arguments)
	if err != nil {
		return worst, false
	}
	first := len(rules)
	for from, end := range value.Strings() {
		if end < len(value) && value[end] == ':' { // the name of a member
			continue
		}
		text := value[from:end].Str()
		text = text[:min(len(text), maxText)]
		if i := slices.IndexFunc(rules[:first], func(r rule) bool { return r.finds(text) }); i >= 0 {
			first = i
		}
	}
	if first == len(rules) {
		return worst, false
	}
	return rules[first].Finding, true
}
