package developer

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"golang.org/x/text/encoding/unicode"
)

// invalid returns the error of a call with invalid arguments.
func invalid(format string, values ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: utf8(fmt.Sprintf(format, values...))}
}

// failed returns the error of a valid call that failed.
func failed(format string, values ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: utf8(fmt.Sprintf(format, values...))}
}

// utf8 replaces invalid UTF-8 by U+FFFD.
func utf8(text string) string {
	valid, err := unicode.UTF8.NewDecoder().String(text)
	if err != nil {
		return text
	}
	return valid
}
