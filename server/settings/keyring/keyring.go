// Package keyring keeps the secrets of goose in a keyring of the desktop: a Secret Service on the session bus, in
// version 0.2 of its specification (decisions G53, G54, G56). All secrets are one text in one item.
//
// Every wait has a limit, and so has the number of accesses that wait. One access runs at a time; the others wait for it,
// also while the user is asked to unlock the keyring. So they share the outcome of that prompt. They also share the failure
// of an access to a service that does not answer.
package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/godbus/dbus/v5"
)

// MaxSecret is the maximum size of the text.
const MaxSecret = 2 << 20

// maxWaiting is the maximum number of accesses that wait for their turn.
const maxWaiting = 100

// Options say where the keyring is.
type Options struct {
	Address     string   // of the session bus, in the notation of D-Bus
	Environment []string // of a program that an address names
	Times       Times
}

// Times are limits. Zero ones have their defaults.
type Times struct {
	Call   time.Duration // of a connection, and of a call; 5 s
	Prompt time.Duration // of a prompt; 60 s
	Quiet  time.Duration // without other prompts, after one that was not answered; 60 s
	Turn   time.Duration // of an access that waits for others; 90 s
}

func (t Times) orDefaults() Times {
	for at, byDefault := range map[*time.Duration]time.Duration{
		&t.Call: 5 * time.Second, &t.Prompt: time.Minute, &t.Quiet: time.Minute, &t.Turn: 90 * time.Second,
	} {
		if *at == 0 {
			*at = byDefault
		}
	}
	return t
}

// A Keyring is a keyring that has been reached. Its methods are safe for concurrent use.
type Keyring struct {
	options Options
	running context.Context // ends with Close
	stop    context.CancelFunc

	waiting atomic.Int32
	turn    chan struct{} // has a value during an access, which guards the rest
	conn    *connection   // nil or broken between connections
	refused time.Time     // when the last prompt failed
	silent  time.Time     // when the last access ended that was not answered
}

var (
	errClosed   = errors.New("the keyring is closed")
	errBusy     = errors.New("too many accesses to the keyring wait, or for too long")
	errNoAnswer = errors.New("no answer")
)

// Open connects to a keyring. The caller must close it.
func Open(o Options) (*Keyring, error) {
	o.Times = o.Times.orDefaults()
	k := &Keyring{options: o, turn: make(chan struct{}, 1)}
	k.running, k.stop = context.WithCancel(context.Background())
	if _, err := k.connection(); err != nil {
		k.stop()
		return nil, err
	}
	return k, nil
}

// Close ends the connection. An access that runs fails.
func (k *Keyring) Close() {
	k.stop()
	k.turn <- struct{}{}
	defer k.release()
	if k.conn != nil {
		k.conn.close()
	}
}

// connection returns the one connection, after a new try if it is broken.
func (k *Keyring) connection() (*connection, error) {
	if k.running.Err() != nil {
		return nil, errClosed
	}
	if k.conn != nil && k.conn.bus.Connected() {
		return k.conn, nil
	}
	late := fmt.Errorf("connect to the keyring: %w within %s", errNoAnswer, k.options.Times.Call)
	ctx, cancel := context.WithTimeoutCause(k.running, k.options.Times.Call, late)
	defer cancel()
	c, err := connect(ctx, k.running, k.options)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	k.conn = c
	return c, nil
}

// Read returns the text, or nil if there is no item.
func (k *Keyring) Read() (text []byte, err error) {
	err = k.Change(func(old []byte) ([]byte, error) {
		text = old
		return nil, nil
	})
	return text, err
}

// Change replaces the text by another one in one step. change gets the old text, or nil if there is no item; if it
// returns nil, nothing is written. It may be called twice.
func (k *Keyring) Change(change func(old []byte) ([]byte, error)) error {
	came := time.Now()
	if err := k.await(); err != nil {
		return err
	}
	defer k.release()
	if came.Before(k.silent) {
		return fmt.Errorf("the access before: %w", errNoAnswer)
	}
	err := k.access(change)
	if isNoSession(err) { // the service has been restarted
		err = k.access(change)
	}
	if errors.Is(err, errNoAnswer) {
		k.silent = time.Now()
	}
	return err
}

// await waits for the turn of an access. The caller must release it.
func (k *Keyring) await() error {
	defer k.waiting.Add(-1)
	if k.waiting.Add(1) > maxWaiting {
		return errBusy
	}
	patience := time.NewTimer(k.options.Times.Turn)
	defer patience.Stop()
	select {
	case k.turn <- struct{}{}:
		return nil
	case <-patience.C:
		return errBusy
	case <-k.running.Done():
		return errClosed
	}
}

func (k *Keyring) release() { <-k.turn }

func (k *Keyring) access(change func(old []byte) ([]byte, error)) error {
	c, err := k.connection()
	if err != nil {
		return err
	}
	err = k.change(c, change)
	if breaks(err) {
		c.close()
	}
	return err
}

func (k *Keyring) change(c *connection, change func(old []byte) ([]byte, error)) error {
	item, err := k.find(c)
	if err != nil {
		return err
	}
	var old secret
	if item != none {
		if err := c.call(c.object(item), itemInterface+".GetSecret", []any{c.session}, &old); err != nil {
			return err
		}
		old.Value = append([]byte{}, old.Value...) // an empty text is not nil
	}
	if len(old.Value) > MaxSecret {
		return errors.New("the item of the keyring has more than 2 MiB")
	}
	text, err := change(old.Value)
	switch {
	case err != nil || text == nil:
		return err
	case len(text) > MaxSecret:
		return errors.New("the item of the keyring would have more than 2 MiB")
	}
	next := secret{Session: c.session, Parameters: []byte{}, Value: text, ContentType: "text/plain"}
	if item == none {
		return k.create(c, next)
	}
	return c.call(c.object(item), itemInterface+".SetSecret", []any{next})
}

// A secret is the structure of the Secret Service.
type secret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

// searched are the attributes by which the item is found. A new item also has the one that goosed gives to its own.
var searched = map[string]string{"service": "goose", "username": "secrets", "target": "default"}

func attributes() map[string]string {
	all := map[string]string{"application": "rust-keyring"}
	for name, value := range searched {
		all[name] = value
	}
	return all
}

// find returns the unlocked item, or none if there is no item.
func (k *Keyring) find(c *connection) (dbus.ObjectPath, error) {
	var unlocked, locked []dbus.ObjectPath
	if err := c.call(c.object(servicePath), serviceInterface+".SearchItems", []any{searched}, &unlocked, &locked); err != nil {
		return none, err
	}
	switch {
	case len(unlocked)+len(locked) > 1:
		return none, errors.New("the keyring has several items with the secrets of goose")
	case len(unlocked) == 1:
		return unlocked[0], nil
	case len(locked) == 1:
		return locked[0], k.unlock(c, locked[0])
	}
	return none, nil
}

// unlock unlocks an item or a collection. The user may have to be asked.
func (k *Keyring) unlock(c *connection, object dbus.ObjectPath) error {
	var unlocked []dbus.ObjectPath
	var prompt dbus.ObjectPath
	if err := c.call(c.object(servicePath), serviceInterface+".Unlock", []any{[]dbus.ObjectPath{object}}, &unlocked, &prompt); err != nil {
		return err
	}
	if prompt != none {
		_, err := k.prompt(c, prompt)
		return err
	}
	if !slices.Contains(unlocked, object) {
		return errors.New("the keyring stays locked")
	}
	return nil
}

// create creates the item in the default collection.
func (k *Keyring) create(c *connection, text secret) error {
	var collection dbus.ObjectPath
	if err := c.call(c.object(servicePath), serviceInterface+".ReadAlias", []any{"default"}, &collection); err != nil {
		return err
	}
	if collection == none {
		return errors.New("there is no default collection for a new item of the keyring")
	}
	var locked bool
	if err := c.call(c.object(collection), "org.freedesktop.DBus.Properties.Get", []any{collectionInterface, "Locked"}, &locked); err != nil {
		return err
	}
	if locked {
		if err := k.unlock(c, collection); err != nil {
			return err
		}
	}
	properties := map[string]dbus.Variant{
		itemInterface + ".Label":      dbus.MakeVariant("secrets of goose"),
		itemInterface + ".Attributes": dbus.MakeVariant(attributes()),
	}
	var item, prompt dbus.ObjectPath
	if err := c.call(c.object(collection), collectionInterface+".CreateItem", []any{properties, text, false}, &item, &prompt); err != nil {
		return err
	}
	if prompt != none {
		_, err := k.prompt(c, prompt)
		return err
	}
	return nil
}
