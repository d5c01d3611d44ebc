// Package toolguard rates how dangerous a tool call looks (GA 18.1, decision M64). It only reads the texts in the
// call, whatever the tool is. It catches careless models, but does not stop anyone who tries to get around it.
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

// A Finding is a dangerous action that a call seems to take.
type Finding struct {
	What       string
	Confidence float64 // from 0 to 1
}

// Prompt returns the text for the user.
func (f Finding) Prompt() string {
	return fmt.Sprintf("🔒 Security Alert: this call looks dangerous.\n\nFinding: %s\nConfidence: %d%%", f.What, int(math.Round(f.Confidence*100)))
}

// A rule finds something in a text. The time of an RE2 expression grows with the text and with its repetitions, so
// long texts are cut.
type rule struct {
	Finding
	// words speed up the search: a text that the expression matches has at least one word of each group.
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

// rules are the table in docs/behaviour/goose-api.md, the highest confidence first. The first match counts.
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

// maxText is how much of a text is read, in bytes.
const maxText = 64 << 10

// Judge returns the worst finding in the texts of an object, and false if there is none. If several are equally bad,
// it returns the first in the table.
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
