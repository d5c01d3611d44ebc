package connector

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
)

// maxLastLine is how many characters of an extension's last output are logged (decision S48).
const maxLastLine = 200

// logLost logs a connection that ended by itself, with the last line of its process if there is one.
func (c *Connector) logLost(name, said string) {
	c.Log.Warn("extension has ended", "extension", name, "said", said)
}

// secretsOf returns the secret values in an extension's configuration, longest first.
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

// lastLine returns the last non-blank line of a text for the log: without secrets, and shortened. isCut means that
// the start of the text is missing.
func lastLine(text string, isCut bool, secrets []string) string {
	text = strings.TrimSpace(text)
	line := text[strings.LastIndexAny(text, "\r\n")+1:]
	if isCut && len(line) == len(text) && len(secrets) > 0 { // it may start with the end of a secret
		line = line[min(len(secrets[0]), len(line)):]
	}
	for _, secret := range secrets {
		line = strings.ReplaceAll(line, secret, "***")
	}
	shown := []rune(strings.ToValidUTF8(line, "\uFFFD"))
	return string(shown[:min(len(shown), maxLastLine)])
}
