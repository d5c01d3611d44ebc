package agentsdk

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A ClaudeCodeAgentError is an error of this package. Its code tells programs and logs what kind of failure it is; its
// concrete type has the details.
type ClaudeCodeAgentError interface {
	error
	Code() string
}

// A kind is a sentinel for errors.Is. All errors with the same code match it.
type kind string

func (k kind) Error() string { return "agentsdk: " + string(k) }

// Code returns the code that the matching errors have.
func (k kind) Code() string { return string(k) }

// The sentinels of the errors, for errors.Is.
var (
	ErrCLINotFound     error = kind("CLI_NOT_FOUND")
	ErrCLIConnection   error = kind("CLI_CONNECTION")
	ErrToolExecution   error = kind("TOOL_EXECUTION")
	ErrControlProtocol error = kind("CONTROL_PROTOCOL")
	ErrTimeout         error = kind("TIMEOUT")
	ErrInvalidState    error = kind("INVALID_STATE")
	ErrInvalidOption   error = kind("INVALID_OPTION")
)

// A CLINotFoundError means that the CLI is neither at the path nor in PATH.
type CLINotFoundError struct {
	Path string // what was tried
	Err  error
}

func (e *CLINotFoundError) Error() string {
	return fmt.Sprintf("CLI %q not found: set CLIPath, or install it in a folder of PATH", e.Path)
}
func (e *CLINotFoundError) Code() string         { return "CLI_NOT_FOUND" }
func (e *CLINotFoundError) Unwrap() error        { return e.Err }
func (e *CLINotFoundError) Is(target error) bool { return target == ErrCLINotFound }

// A CLIConnectionError means that the CLI could not be started, ended too early, or cannot be reached any more.
type CLIConnectionError struct {
	Reason   string
	ExitCode int    // -1 if it has not exited, or was killed by a signal
	Signal   string // what killed it, such as "killed"
	Stderr   string // the end of its standard error
	Err      error
	stopped  bool // by a signal of the transport
}

func (e *CLIConnectionError) Error() string {
	var b strings.Builder
	b.WriteString("CLI connection: " + e.Reason)
	if e.Signal != "" {
		b.WriteString(", by signal " + e.Signal)
	} else if e.ExitCode >= 0 {
		fmt.Fprintf(&b, ", exit code %d", e.ExitCode)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if tail := strings.TrimSpace(e.Stderr); tail != "" {
		b.WriteString("\nstderr: " + tail)
	}
	return b.String()
}
func (e *CLIConnectionError) Code() string         { return "CLI_CONNECTION" }
func (e *CLIConnectionError) Unwrap() error        { return e.Err }
func (e *CLIConnectionError) Is(target error) bool { return target == ErrCLIConnection }

// A ToolExecutionError says why a tool call has failed. It never ends the session: the model sees the cause.
type ToolExecutionError struct {
	ToolName string
	Err      error
}

func (e *ToolExecutionError) Error() string        { return fmt.Sprintf("tool %q: %v", e.ToolName, e.Err) }
func (e *ToolExecutionError) Code() string         { return "TOOL_EXECUTION" }
func (e *ToolExecutionError) Unwrap() error        { return e.Err }
func (e *ToolExecutionError) Is(target error) bool { return target == ErrToolExecution }

// A ControlProtocolError means that the CLI rejected a request, or broke the protocol.
type ControlProtocolError struct {
	RequestID string // empty if no request is at fault
	Subtype   string // of the request
	Message   string
	ErrorCode string // what the CLI sent, such as "invalid_mode"
}

func (e *ControlProtocolError) Error() string {
	var b strings.Builder
	b.WriteString("control protocol: ")
	if e.Subtype != "" {
		fmt.Fprintf(&b, "%s (%s): ", e.Subtype, e.RequestID)
	}
	b.WriteString(e.Message)
	if e.ErrorCode != "" {
		fmt.Fprintf(&b, " [%s]", e.ErrorCode)
	}
	return b.String()
}
func (e *ControlProtocolError) Code() string         { return "CONTROL_PROTOCOL" }
func (e *ControlProtocolError) Is(target error) bool { return target == ErrControlProtocol }

// A TimeoutError means that an operation took too long. It is also a context.DeadlineExceeded.
type TimeoutError struct {
	Operation string
	Timeout   time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s: no answer within %v", e.Operation, e.Timeout)
}
func (e *TimeoutError) Code() string { return "TIMEOUT" }
func (e *TimeoutError) Is(target error) bool {
	return target == ErrTimeout || target == context.DeadlineExceeded
}

// An InvalidStateError means that a session is in the wrong state for an operation or a transition.
type InvalidStateError struct {
	Current  SessionState
	Expected []SessionState // the states that would allow it
	what     string         // the operation
}

func (e *InvalidStateError) Error() string {
	what := e.what
	if what == "" {
		what = "invalid state"
	}
	current := string(e.Current)
	if current == "" {
		current = "not connected"
	}
	if len(e.Expected) == 0 {
		return fmt.Sprintf("%s: the session is %s", what, current)
	}
	return fmt.Sprintf("%s: the session is %s, want one of %v", what, current, e.Expected)
}
func (e *InvalidStateError) Code() string         { return "INVALID_STATE" }
func (e *InvalidStateError) Is(target error) bool { return target == ErrInvalidState }

// An OptionError is a mistake in the options, a tool or a prompt. Nothing was started.
type OptionError struct {
	Option  string // such as "SessionID"
	Message string // what is wrong, and what to write instead
}

func (e *OptionError) Error() string        { return e.Option + ": " + e.Message }
func (e *OptionError) Code() string         { return "INVALID_OPTION" }
func (e *OptionError) Is(target error) bool { return target == ErrInvalidOption }
