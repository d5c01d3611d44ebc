package recipe

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

var errDeeplink = errors.New("not a deeplink of a recipe")

// FromDeeplink returns the recipe of a deeplink: URL-safe Base64 without padding. Two older forms are accepted too:
// standard Base64 with padding, percent-encoded or not (GA 11.3).
func FromDeeplink(link string) (Recipe, error) {
	if strings.ContainsAny(link, "\r\n") { // package base64 would ignore them
		return Recipe{}, errDeeplink
	}
	if json, err := base64.RawURLEncoding.Strict().DecodeString(link); err == nil {
		if r, err := fromJSON(json); err == nil {
			return r, nil
		}
	}
	unescaped, err := url.PathUnescape(link)
	if err != nil || strings.ContainsAny(unescaped, "\r\n") {
		return Recipe{}, errDeeplink
	}
	json, err := base64.StdEncoding.Strict().DecodeString(unescaped)
	if err != nil {
		return Recipe{}, errDeeplink
	}
	return fromJSON(json)
}

func fromJSON(json []byte) (Recipe, error) {
	r, err := decode.Text(json, decodeWritten)
	if err != nil {
		return Recipe{}, errDeeplink
	}
	return r, nil
}
