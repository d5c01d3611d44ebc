package clienttools

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-dev/lockstep/server/domain/message"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// attached returns the content for the attachments of a result (CT 11.6, decision S75). What is not an attachment is
// left out.
func attached(attachments jsonwire.Text) (contents []message.ToolContent) {
	for i, attachment := range attachments.Elements() {
		parts := attachment.Pick("mime", "url")
		if parts[0].Kind() != "string" || parts[1].Kind() != "string" {
			continue
		}
		mime, url := parts[0].Str(), parts[1].Str()
		if !hasPrefixFold(url, "data:") {
			if scheme.MatchString(url) {
				contents = append(contents, message.ToolText{Text: url})
			}
			continue
		}
		if content, ok := ofData(i, mime, url); ok {
			contents = append(contents, content)
		}
	}
	return contents
}

// scheme matches the beginning of a URL (RFC 3986 section 3.1).
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// ofData returns the content for a data URL with Base64, or false for any other data URL.
func ofData(index int, mime, url string) (message.ToolContent, bool) {
	head, data, complete := strings.Cut(url, ",")
	if !complete || !strings.HasSuffix(strings.ToLower(head), ";base64") || strings.ContainsAny(data, "\r\n") {
		return nil, false
	}
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, false
	}
	media, _, _ := strings.Cut(strings.ToLower(mime), ";")
	media = strings.TrimSpace(media)
	if strings.HasPrefix(media, "image/") {
		return message.ToolImage{Data: data, MIMEType: mime}, true
	}
	resource := message.ToolResource{URI: fmt.Sprintf("attachment://%d", index), MIMEType: &mime}
	if isText(media) && utf8.Valid(decoded) {
		resource.Text = new(string(decoded))
	} else {
		resource.Blob = &data
	}
	return resource, true
}

// isText reports whether a media type is one of texts or of JSON.
func isText(media string) bool {
	return strings.HasPrefix(media, "text/") || media == "application/json" || strings.HasSuffix(media, "+json")
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
