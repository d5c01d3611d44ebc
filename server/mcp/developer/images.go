package developer

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image"
	_ "image/gif"  // registers a decoder, for the first frame
	_ "image/jpeg" // registers a decoder
	"image/png"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // registers a decoder

	"github.com/lockstep-dev/lockstep/server/files"
)

// These bounds limit an image (GA 28.2, decision X40).
const (
	maxImage  = 10 << 20
	maxPixels = 50_000_000
	maxWidth  = 768
)

// image returns an image file, scaled down if it is wide.
func (p paths) image(_ context.Context, c call) ([]mcp.Content, error) {
	given := c.Need("path")
	if c.Err != nil {
		return nil, c.Err
	}
	f, err := p.file(given)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(f.path); err == nil && info.Mode().IsRegular() && info.Size() > maxImage {
		return nil, failed("File '%s' is too large (%.2fMB). Maximum size is 10MB.", given, float64(info.Size())/(1<<20))
	}
	content, err := files.Read(f.path, maxImage)
	if isMissing(err) {
		return nil, failed("File '%s' does not exist", given)
	}
	shown, ok := smaller(content)
	if err != nil || !ok {
		return nil, failed("Failed to open image file: not a PNG, JPEG, GIF or WebP image that can be read")
	}
	priority := json.Number("0")
	return []mcp.Content{text("Successfully processed image from "+given, forAssistant), newItem(struct {
		Type        string `json:"type"`
		Data        string `json:"data"`
		MIMEType    string `json:"mimeType"`
		Annotations any    `json:"annotations"`
	}{"image", base64.StdEncoding.EncodeToString(shown), "image/png", map[string]any{"priority": priority}})}, nil
}

// smaller returns an image as a PNG of limited width. It returns false if the image cannot be read or has too many
// pixels.
func smaller(content []byte) (picture []byte, ok bool) {
	config, _, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil || config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height {
		return nil, false
	}
	from, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, false
	}
	if size := from.Bounds(); size.Dx() > maxWidth {
		to := image.NewNRGBA(image.Rect(0, 0, maxWidth, max(size.Dy()*maxWidth/size.Dx(), 1)))
		draw.ApproxBiLinear.Scale(to, to.Bounds(), from, size, draw.Src, nil)
		from = to
	}
	var out bytes.Buffer
	err = png.Encode(&out, from)
	return out.Bytes(), err == nil
}

// noDesktop returns a tool that always fails, because a server has no desktop.
func noDesktop(says string) run {
	return func(context.Context, call) ([]mcp.Content, error) { return nil, failed("%s", says) }
}
