package developer

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"golang.org/x/text/encoding/unicode"
)

// invalid is the failure of a call that the model can avoid.
func invalid(format string, values ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: utf8(fmt.Sprintf(format, values...))}
}

// failed is the failure of what a call does.
func failed(format string, values ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: utf8(fmt.Sprintf(format, values...))}
}

// utf8 puts U+FFFD in the place of bytes that are no UTF-8.
func utf8(text string) string {
	valid, err := unicode.UTF8.NewDecoder().String(text)
	if err != nil {
		return text
	}
	return valid
}
