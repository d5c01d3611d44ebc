package connector

import (
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/mcp/mcperror"
	"github.com/lockstep-dev/lockstep/server/settings/ownsecret"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// variables returns the variables of an extension: the secrets that it names, without those that are not strings, and
// its own values, which have precedence (decision X39).
func (c *Connector) variables(config extension.Config) (jsonwire.Pairs, error) {
	var all jsonwire.Pairs
	for _, key := range config.EnvKeys {
		if _, own := config.Envs.Get(key); own {
			continue
		}
		raw, err := c.Secrets.Secret(key)
		if err != nil {
			c.Log.Warn("secret not read", "err", err)
		}
		switch value := jsonwire.Text(raw); value.Kind() {
		case "undefined", "null":
			return nil, mcperror.Reason("invalid config: Failed to fetch secret '" + key + "' from config: Configuration value not found: " + strings.ToUpper(key))
		case "string":
			all = append(all, jsonwire.Pair{Name: key, Value: value.Str()})
		}
	}
	return append(all, config.Envs...), nil
}

// environment returns the environment of a command. If a name occurs twice, the last value wins.
func environment(server []string, variables jsonwire.Pairs) []string {
	all := ownsecret.Without(server)
	for _, v := range variables {
		all = append(all, v.Name+"="+v.Value)
	}
	return all
}
