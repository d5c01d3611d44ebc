package llm

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// ResultText returns the text of a tool's result as the model reads it (decision M12).
func ResultText(result message.ToolResult) string {
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

func partText(content message.ToolContent) string {
	switch c := content.(type) {
	case message.ToolText:
		return c.Text
	case message.ToolImage:
		return "[image]"
	case message.ToolAudio:
		return "[audio]"
	case message.ToolResource:
		if c.Text != nil {
			return *c.Text
		}
		return "[resource " + c.URI + "]"
	case message.ToolResourceLink:
		return "[resource " + c.URI + "]"
	default:
		return ""
	}
}

// resultImages returns the images of a tool's result that the model sees.
func resultImages(result message.ToolResult) (images []message.Image) {
	for _, content := range result.Value {
		if image, ok := content.(message.ToolImage); ok && forModel(content) {
			images = append(images, message.Image{Data: image.Data, MIMEType: image.MIMEType})
		}
	}
	return images
}

// forModel reports whether a part of a result is for the model. A part without an audience is for everyone.
func forModel(content message.ToolContent) bool {
	var notes *message.Annotations
	switch c := content.(type) {
	case message.ToolText:
		notes = c.Annotations
	case message.ToolImage:
		notes = c.Annotations
	case message.ToolAudio:
		notes = c.Annotations
	case message.ToolResource:
		notes = c.Annotations
	case message.ToolResourceLink:
		notes = c.Annotations
	}
	return notes == nil || notes.Audience == nil || slices.Contains(notes.Audience, message.Assistant)
}
