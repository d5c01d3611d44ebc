package settings

import (
	"errors"
	"fmt"
	"sync"

	"github.com/lockstep-dev/lockstep/server/settings/keyring"
	"github.com/lockstep-dev/lockstep/server/settings/ownsecret"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// A secretStore says where secrets are stored. That is chosen at the first access (decision G53). Its lock is not that of
// the files: reading a setting does not wait for a keyring.
type secretStore struct {
	environment []string // of a program that is the session bus

	mu     sync.Mutex // held while the store is chosen
	chosen bool
	ring   *keyring.Keyring // nil if secrets are in the file
}

// SetEnvironment sets the environment of a program that the address of the session bus names, without this server's
// secrets. It must be called before secrets are read.
func (s *Settings) SetEnvironment(environment []string) {
	s.secrets.environment = ownsecret.Without(environment)
}

// Close ends the connection with the keyring. Later accesses to it fail.
func (s *Settings) Close() {
	s.secrets.mu.Lock()
	defer s.secrets.mu.Unlock()
	if s.secrets.ring != nil {
		s.secrets.ring.Close()
	}
}

// keyring returns the keyring with the secrets, or nil if they are in the file of the settings.
func (st *secretStore) keyring(s *Settings) *keyring.Keyring {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.chosen {
		return st.ring
	}
	st.chosen = true
	ring, err := st.open(s.env)
	if err != nil {
		s.log.Info("secrets are in a file", "path", s.path(Secrets), "because", err)
		return nil
	}
	s.log.Info("secrets are in the keyring", "service", "goose", "username", "secrets")
	st.ring = ring
	return ring
}

func (st *secretStore) open(env Lookup) (*keyring.Keyring, error) {
	if _, disabled := env("GOOSE_DISABLE_KEYRING"); disabled {
		return nil, errors.New("GOOSE_DISABLE_KEYRING is set")
	}
	address, _ := env("DBUS_SESSION_BUS_ADDRESS")
	if runtime, _ := env("XDG_RUNTIME_DIR"); address == "" && runtime != "" {
		address = "unix:path=" + keyring.Escape(runtime+"/bus")
	}
	return keyring.Open(keyring.Options{Address: address, Environment: st.environment})
}

// item returns the mapping of the keyring, or an empty one if secrets are in the file.
func (st *secretStore) item(s *Settings) (mapping, error) {
	ring := st.keyring(s)
	if ring == nil {
		return empty.mapping, nil
	}
	text, err := ring.Read()
	if err != nil {
		return mapping{}, fmt.Errorf("read the keyring: %w", err)
	}
	return parseItem(text)
}

// changeSecret changes a secret. In a keyring, change gets the value that is there (decision G55).
func (s *Settings) changeSecret(key string, change func(old jsonwire.Text) jsonwire.Text) error {
	ring := s.secrets.keyring(s)
	if ring == nil {
		return s.changeFile(Secrets, key, false, change)
	}
	removed := false
	err := ring.Change(func(text []byte) ([]byte, error) {
		item, err := parseItem(text)
		if err != nil {
			return nil, err
		}
		old := item.values[key]
		next := change(old)
		if removed = next == nil; removed && old == nil {
			return nil, nil
		}
		return changed(item.json, key, func(jsonwire.Text) jsonwire.Text { return next }), nil
	})
	if err != nil {
		return fmt.Errorf("change the keyring: %w", err)
	}
	err = s.changeFile(Secrets, key, true, remove)
	if removed {
		return err
	}
	if err != nil { // the item has precedence over the file
		s.log.Warn("old secret not removed", "err", err)
	}
	return nil
}

var errItem = errors.New("the item of the keyring is no JSON object")

// parseItem returns the mapping of the keyring's item (decision G54). Its error does not quote the item.
func parseItem(text []byte) (mapping, error) {
	if len(text) == 0 {
		return empty.mapping, nil
	}
	if _, err := decode.Parse(text); err != nil {
		return mapping{}, errItem
	}
	json, err := jsonwire.Parse(text)
	if err != nil || json.Kind() != "object" {
		return mapping{}, errItem
	}
	return mappingOf(json), nil
}
