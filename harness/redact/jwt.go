package redact

import (
	"encoding/base64"
	"strings"

	"github.com/lockstep-dev/lockstep/internal/jsontree"
)

// jwtAlias returns the alias of a JWT (RFC 7519). It keeps the header and the structure of the claims, replaces every
// text by its alias, and changes the signature. So the claims can be compared, above all their times. It is as long as
// the secret.
func jwtAlias(secret string) (string, bool) {
	parts := strings.Split(secret, ".")
	if len(parts) != 3 || !strings.HasPrefix(secret, "eyJ") {
		return "", false
	}
	if _, ok := objectInBase64(parts[0]); !ok {
		return "", false
	}
	claims, ok := objectInBase64(parts[1])
	if !ok {
		return "", false
	}
	return parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(aliasedTexts(claims))) + "." + scrambled(parts[2], secret, lowerLetters), true
}

// objectInBase64 returns the JSON of an object that is encoded in Base64. It rejects texts with escapes.
func objectInBase64(part string) (string, bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return "", false
	}
	root, defects, err := jsontree.Parse(data)
	text := string(data)
	return text, err == nil && len(defects) == 0 && root.Kind == jsontree.Object && !strings.Contains(text, `\`)
}

// aliasedTexts replaces the texts of a document without escapes, and keeps the names of members.
func aliasedTexts(doc string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(doc, `"`)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		text, behind, _ := strings.Cut(rest, `"`)
		if !strings.HasPrefix(strings.TrimLeft(behind, " \t\r\n"), ":") {
			text = alias(text)
		}
		out.WriteString(`"` + text + `"`)
		doc = behind
	}
}
