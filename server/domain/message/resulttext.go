package message

import (
	"slices"
	"strings"
)

// ResultText returns the text of a tool's result as the model reads it (decision M12).
func ResultText(result ToolResult) string {
	if result.Error != nil {
		return "Error: " + *result.Error
	}
	var parts []string
	for _, content := range result.Value {
		if forModel(content) {
			parts = append(parts, partText(content))
		}
	}
	return strings.Join(parts, "\n")
}

func partText(content ToolContent) string {
	switch c := content.(type) {
	case ToolText:
		return c.Text
	case ToolImage:
		return "[image]"
	case ToolAudio:
		return "[audio]"
	case ToolResource:
		if c.Text != nil {
			return *c.Text
		}
		return "[resource " + c.URI + "]"
	case ToolResourceLink:
		return "[resource " + c.URI + "]"
	default:
		return ""
	}
}

// ResultImages returns the images of a tool's result that the model sees.
func ResultImages(result ToolResult) (images []Image) {
	for _, content := range result.Value {
		if image, ok := content.(ToolImage); ok && forModel(content) {
			images = append(images, Image{Data: image.Data, MIMEType: image.MIMEType})
		}
	}
	return images
}

// forModel reports whether a part of a result is for the model. A part without an audience is for everyone.
func forModel(content ToolContent) bool {
	var notes *Annotations
	switch c := content.(type) {
	case ToolText:
		notes = c.Annotations
	case ToolImage:
		notes = c.Annotations
	case ToolAudio:
		notes = c.Annotations
	case ToolResource:
		notes = c.Annotations
	case ToolResourceLink:
		notes = c.Annotations
	}
	return notes == nil || notes.Audience == nil || slices.Contains(notes.Audience, Assistant)
}
