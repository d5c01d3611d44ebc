package keyring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"
)

// These are names of the Secret Service.
const (
	serviceName         = "org.freedesktop.secrets"
	servicePath         = dbus.ObjectPath("/org/freedesktop/secrets")
	none                = dbus.ObjectPath("/")
	serviceInterface    = "org.freedesktop.Secret.Service"
	itemInterface       = "org.freedesktop.Secret.Item"
	collectionInterface = "org.freedesktop.Secret.Collection"
	promptInterface     = "org.freedesktop.Secret.Prompt"
	errNoSession        = "org.freedesktop.Secret.Error.NoSession"
)

// A connection is a session with the Secret Service.
type connection struct {
	bus      *dbus.Conn
	session  dbus.ObjectPath
	prompted *completions
	times    Times
}

// connect opens a session on the first bus that works, before ctx ends. The connection ends with running.
func connect(ctx, running context.Context, o Options) (*connection, error) {
	if o.Address == "" {
		return nil, errors.New("there is no address of a session bus")
	}
	var failures []error
	for entry := range strings.SplitSeq(o.Address, ";") {
		c, err := o.reach(ctx, running, entry)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		var output dbus.Variant
		call := c.object(servicePath).CallWithContext(ctx, serviceInterface+".OpenSession", 0, "plain", dbus.MakeVariant(""))
		if err := call.Store(&output, &c.session); err != nil {
			c.close()
			return nil, fmt.Errorf("open a session of %s: %w", serviceName, err)
		}
		return c, nil
	}
	return nil, errors.Join(failures...)
}

// reach connects to the bus at an entry of the address.
func (o Options) reach(ctx, running context.Context, entry string) (*connection, error) {
	p, err := parsePlace(entry)
	if err != nil {
		return nil, err
	}
	wire, err := dial(ctx, p, o.Environment)
	if err != nil {
		return nil, fmt.Errorf("connect to the session bus: %w", err)
	}
	c := &connection{prompted: &completions{}, times: o.Times}
	c.bus, err = dbus.NewConn(&bounded{Conn: wire, patience: o.Times.Call}, dbus.WithContext(running), dbus.WithSignalHandler(c.prompted))
	if err != nil {
		return nil, errors.Join(err, wire.Close())
	}
	stop := context.AfterFunc(ctx, c.close) // neither the authentication nor Hello has a context
	err = c.bus.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))})
	if err == nil {
		err = c.bus.Hello()
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("speak with the session bus: %w", errors.Join(err, context.Cause(ctx)))
	}
	return c, nil
}

func (c *connection) close() { _ = c.bus.Close() }

func (c *connection) object(path dbus.ObjectPath) dbus.BusObject {
	return c.bus.Object(serviceName, path)
}

// call calls a method, and stores what it returns.
func (c *connection) call(object dbus.BusObject, method string, args []any, results ...any) error {
	ctx, cancel := context.WithTimeoutCause(c.bus.Context(), c.times.Call, fmt.Errorf("%w within %s", errNoAnswer, c.times.Call))
	defer cancel()
	err := object.CallWithContext(ctx, method, 0, args...).Store(results...)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = context.Cause(ctx)
		}
		return &callError{method, err}
	}
	return nil
}

// A callError says that a call failed.
type callError struct {
	method string
	err    error
}

// Error does not have the text of the service, which may contain secrets.
func (e *callError) Error() string {
	said := dbus.Error{}
	if errors.As(e.err, &said) {
		return "call " + e.method + ": " + said.Name
	}
	return "call " + e.method + ": " + e.err.Error()
}

func (e *callError) Unwrap() error { return e.err }

// breaks reports whether an error makes a connection useless: anything but another error of the service.
func breaks(err error) bool {
	failed, said := (*callError)(nil), dbus.Error{}
	return errors.As(err, &failed) && (!errors.As(err, &said) || isNoSession(err))
}

// isNoSession reports whether the service does not know the session. Then it has not done what it was asked for.
func isNoSession(err error) bool {
	said := dbus.Error{}
	return errors.As(err, &said) && said.Name == errNoSession
}
