package store

import (
	"database/sql"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

func parse(column sql.NullString) (decode.Value, bool) {
	if !column.Valid {
		return decode.Value{}, false
	}
	v, err := decode.Parse([]byte(column.String))
	return v, err == nil
}

// lenient reads a column of JSON. Invalid JSON counts as absent.
func lenient[T any](column sql.NullString, decoder func(decode.Value) (T, error)) *T {
	v, ok := parse(column)
	if !ok || v.IsNull() {
		return nil
	}
	value, err := decoder(v)
	if err != nil {
		return nil
	}
	return &value
}
