package keyring

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

var (
	errDismissed = errors.New("the prompt of the keyring was dismissed")
	errRefused   = errors.New("the keyring needs a prompt, and the last one was not answered a short while ago")
)

// completions pass on the end of the one prompt that is open. Other signals are dropped.
type completions struct {
	mu    sync.Mutex
	path  dbus.ObjectPath
	ended chan []any // what Completed says; it has space for one
}

// expect says of which prompt the end will be passed on. It must be called before the prompt can end.
func (c *completions) expect(path dbus.ObjectPath) <-chan []any {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.path, c.ended = path, make(chan []any, 1)
	return c.ended
}

// DeliverSignal implements [dbus.SignalHandler].
func (c *completions) DeliverSignal(_, _ string, signal *dbus.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if signal.Name != promptInterface+".Completed" || signal.Path != c.path || c.ended == nil {
		return
	}
	select {
	case c.ended <- signal.Body:
	default: // a prompt ends once
	}
}

// prompt opens a prompt and waits for its end, which it returns. For a while after a prompt that was not answered, no
// other one is opened. The caller has the turn, so only one is open at a time.
func (k *Keyring) prompt(c *connection, path dbus.ObjectPath) (result dbus.Variant, err error) {
	object := c.object(path)
	if time.Since(k.refused) < c.times.Quiet {
		object.Go(promptInterface+".Dismiss", dbus.FlagNoReplyExpected, nil) // its answer is not needed
		return result, errRefused
	}
	ended := c.prompted.expect(path)
	rule := fmt.Sprintf("type='signal',sender='%s',interface='%s',member='Completed',path='%s'", serviceName, promptInterface, path)
	if err := c.call(c.bus.BusObject(), "org.freedesktop.DBus.AddMatch", []any{rule}); err != nil {
		return result, err
	}
	defer c.bus.BusObject().Go("org.freedesktop.DBus.RemoveMatch", dbus.FlagNoReplyExpected, nil, rule)
	if err := c.call(object, promptInterface+".Prompt", []any{""}); err != nil {
		return result, err
	}
	if result, err = c.answer(object, ended); err != nil {
		k.refused = time.Now()
	}
	return result, err
}

// answer waits for the end of a prompt, and dismisses it if that takes too long.
func (c *connection) answer(prompt dbus.BusObject, ended <-chan []any) (result dbus.Variant, err error) {
	patience := time.NewTimer(c.times.Prompt)
	defer patience.Stop()
	select {
	case said := <-ended:
		var dismissed bool
		if err := dbus.Store(said, &dismissed, &result); err != nil {
			return result, &callError{promptInterface + ".Completed", errors.New("it has other types")}
		}
		if dismissed {
			return result, errDismissed
		}
		return result, nil
	case <-patience.C:
		late := fmt.Errorf("the prompt of the keyring was not answered within %s", c.times.Prompt)
		return result, errors.Join(late, c.call(prompt, promptInterface+".Dismiss", nil))
	case <-c.bus.Context().Done():
		return result, &callError{promptInterface + ".Prompt", dbus.ErrClosed}
	}
}
