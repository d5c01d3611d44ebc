package connector

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
)

// maxLastLine is how many characters of what an extension says last are logged (decision S48).
const maxLastLine = 200

// logLost logs a connection that ended by itself, with the last line of its process, if it has one.
func (c *Connector) logLost(name, said string) {
	c.Log.Warn("extension has ended", "extension", name, "said", said)
}

// secretsOf returns the values that an extension has of its user, the longest first.
func (c *Connector) secretsOf(config extension.Config) (secrets []string) {
	variables, _ := c.variables(config) // an extension with an error there does not run
	for _, pair := range append(variables, config.Headers...) {
		if pair.Value != "" {
			secrets = append(secrets, pair.Value)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return secrets
}

// lastLine returns the last line of a text that is not blank, without secrets, cut to what a log shows. The beginning of the
// text may be missing.
func lastLine(text string, isCut bool, secrets []string) string {
	text = strings.TrimSpace(text)
	line := text[strings.LastIndexAny(text, "\r\n")+1:]
	if isCut && len(line) == len(text) && len(secrets) > 0 { // the end of a secret may be at its beginning
		line = line[min(len(secrets[0]), len(line)):]
	}
	for _, secret := range secrets {
		line = strings.ReplaceAll(line, secret, "***")
	}
	shown := []rune(strings.ToValidUTF8(line, "\uFFFD"))
	return string(shown[:min(len(shown), maxLastLine)])
}
