// Package httpstatus names status codes in texts for people, such as "404 Not Found".
package httpstatus

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
)

// renamed are the names in RFC 9110 §15 for which net/http has older ones (decision M28).
var renamed = map[int]string{
	413: "Content Too Large", 414: "URI Too Long", 416: "Range Not Satisfiable", 422: "Unprocessable Content",
}

// foreign are the codes that net/http has from other documents than RFC 9110.
var foreign = []int{102, 103, 207, 208, 226, 418, 423, 424, 425, 428, 429, 431, 451, 506, 507, 508, 510, 511}

// Of returns a status with its name, such as "404 Not Found", or the number alone if RFC 9110 has no name for it.
func Of(status int) string {
	number, name := strconv.Itoa(status), cmp.Or(renamed[status], http.StatusText(status))
	if name == "" || slices.Contains(foreign, status) {
		return number
	}
	return number + " " + name
}
