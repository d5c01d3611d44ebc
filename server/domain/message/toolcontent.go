package message

import (
	"encoding/json"

	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
	"github.com/lockstep-dev/lockstep/server/wire/jsonwire"
)

// ToolContent is one item of a tool's result, as in MCP (GA 4.5): [ToolText], [ToolImage], [ToolResource],
// [ToolAudio] or [ToolResourceLink]. All are used as values.
type ToolContent interface {
	// Write writes the item as JSON.
	Write(w *jsonwire.Writer)
	isToolContent()
}

// The items of a tool's result. A nil RawMessage or pointer is an absent field.
type (
	// ToolText is text.
	ToolText struct {
		Text        string
		Meta        json.RawMessage // an object
		Annotations *Annotations
	}
	// ToolImage is a picture in Base64.
	ToolImage struct {
		Data, MIMEType string
		Meta           json.RawMessage // an object
		Annotations    *Annotations
	}
	// ToolResource is a resource with its content: either a text, or a blob in Base64.
	ToolResource struct {
		URI          string
		MIMEType     *string
		Text, Blob   *string         // exactly one is set
		ResourceMeta json.RawMessage // an object: the _meta inside the resource
		Meta         json.RawMessage // an object
		Annotations  *Annotations
	}
	// ToolAudio is sound in Base64.
	ToolAudio struct {
		Data, MIMEType string
		Annotations    *Annotations
	}
	// ToolResourceLink is a link to a resource.
	ToolResourceLink struct {
		URI, Name                    string
		Title, Description, MIMEType *string
		Size                         *int64
		Icons                        []extension.Icon
		Annotations                  *Annotations
	}
)

func (ToolText) isToolContent()         {}
func (ToolImage) isToolContent()        {}
func (ToolResource) isToolContent()     {}
func (ToolAudio) isToolContent()        {}
func (ToolResourceLink) isToolContent() {}

// DecodeToolContent reads one item of a tool's result.
func DecodeToolContent(v decode.Value) (ToolContent, error) {
	kind, err := decode.Tag(v, "type", "text", "image", "resource", "audio", "resource_link")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "text":
		o := v.Object("text", "_meta", "annotations")
		return ToolText{Text: o.String("text"), Meta: o.MaybeObject("_meta"), Annotations: annotationsOf(o)}, o.Err()
	case "image":
		o := v.Object("data", "mimeType", "_meta", "annotations")
		return ToolImage{
			Data: o.String("data"), MIMEType: o.String("mimeType"), Meta: o.MaybeObject("_meta"), Annotations: annotationsOf(o),
		}, o.Err()
	case "resource":
		o := v.Object("resource", "_meta", "annotations")
		resource := decode.Field(o, "resource", decodeResource)
		resource.Meta = o.MaybeObject("_meta")
		resource.Annotations = annotationsOf(o)
		return resource, o.Err()
	case "audio":
		o := v.Object("data", "mimeType", "annotations")
		return ToolAudio{Data: o.String("data"), MIMEType: o.String("mimeType"), Annotations: annotationsOf(o)}, o.Err()
	default:
		o := v.Object("uri", "name", "title", "description", "mimeType", "size", "icons", "annotations")
		return ToolResourceLink{
			URI: o.String("uri"), Name: o.String("name"),
			Title: o.MaybeString("title"), Description: o.MaybeString("description"), MIMEType: o.MaybeString("mimeType"),
			Size: decode.MaybeField(o, "size", decode.Natural), Icons: extension.DecodeIcons(o), Annotations: annotationsOf(o),
		}, o.Err()
	}
}

// decodeResource reads the content of a resource: a text if there is one, otherwise a blob.
func decodeResource(v decode.Value) (ToolResource, error) {
	o := v.Object("uri", "mimeType", "text", "blob", "_meta")
	resource := ToolResource{URI: o.String("uri"), MIMEType: o.MaybeString("mimeType"), ResourceMeta: o.MaybeObject("_meta")}
	if !o.Get("text").Exists() && o.Get("blob").Exists() {
		blob := o.String("blob")
		resource.Blob = &blob
	} else {
		text := o.String("text")
		resource.Text = &text
	}
	return resource, o.Err()
}

// Write writes the item as JSON. Unlike in the message itself, the metadata comes before the annotations.
func (c ToolText) Write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("type").String("text")
	w.Name("text").String(c.Text)
	w.MaybeRaw("_meta", c.Meta)
	writeAnnotations(w, c.Annotations)
	w.Close('}')
}

// Write writes the item as JSON. Unlike in the message itself, the metadata comes before the annotations.
func (c ToolImage) Write(w *jsonwire.Writer) {
	w.Open('{')
	w.Name("type").String("image")
	w.Name("data").String(c.Data)
	w.Name("mimeType").String(c.MIMEType)
	w.MaybeRaw("_meta", c.Meta)
	writeAnnotations(w, c.Annotations)
	w.Close('}')
}

func writeAnnotations(w *jsonwire.Writer, annotations *Annotations) {
	if annotations != nil {
		w.Name("annotations").Value(annotations)
	}
}

func (c ToolResource) Write(w *jsonwire.Writer) {
	var resource any
	if c.Text != nil {
		resource = api.TextResourceContents{URI: c.URI, MIMEType: c.MIMEType, Text: *c.Text, Meta: c.ResourceMeta}
	} else {
		resource = api.BlobResourceContents{URI: c.URI, MIMEType: c.MIMEType, Blob: *c.Blob, Meta: c.ResourceMeta}
	}
	w.Value(api.EmbeddedResource{
		Type: api.EmbeddedResourceTypeResource, Resource: api.ResourceContents(jsonwire.Marshal(resource)),
		Meta: c.Meta, Annotations: c.Annotations,
	})
}

func (c ToolAudio) Write(w *jsonwire.Writer) {
	w.Value(api.AudioContent{Type: api.AudioContentTypeAudio, Data: c.Data, MIMEType: c.MIMEType, Annotations: c.Annotations})
}

func (c ToolResourceLink) Write(w *jsonwire.Writer) {
	w.Value(api.ResourceLink{
		Type: api.ResourceLinkTypeResourceLink, URI: c.URI, Name: c.Name, Title: c.Title, Description: c.Description,
		MIMEType: c.MIMEType, Size: c.Size, Icons: c.Icons, Annotations: c.Annotations,
	})
}
