package llm

import (
	"slices"
	"strings"

	"github.com/lockstep-dev/lockstep/server/domain/message"
)

// ResultText is what the model reads of a tool's result (decision M12).
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

// resultImages are the images that the model sees of a tool's result.
func resultImages(result message.ToolResult) (images []message.Image) {
	for _, content := range result.Value {
		if image, ok := content.(message.ToolImage); ok && forModel(content) {
			images = append(images, message.Image{Data: image.Data, MIMEType: image.MIMEType})
		}
	}
	return images
}

// forModel says whether a part of a result is meant for the model: if it does not say for whom it is, it is for all.
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
