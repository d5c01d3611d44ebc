package html

import (
	"fmt"
	"io"

	"github.com/lockstep-dev/lockstep/harness/report"
	"github.com/lockstep-dev/lockstep/harness/verdict"
)

// The colours of badges.
const red, yellow, green = "#b3261e", "#8a6d00", "#2d7d46"

// WriteBadge writes a run's verdict as a picture (SVG): "lockstep | 517 match".
func WriteBadge(w io.Writer, doc *report.Document) error {
	t := &doc.Totals
	text, color := fmt.Sprintf("%d match", t.Match), green
	switch doc.Verdict {
	case verdict.Match:
	case verdict.Waived:
		text = fmt.Sprintf("%d match, %d waived", t.Match, t.Waived)
	case verdict.Differ:
		text, color = fmt.Sprintf("%d differ", t.Differ), red
	default:
		text, color = "unknown", yellow
	}
	return writeBadge(w, text, color)
}

func writeBadge(w io.Writer, text, color string) error {
	const name, letter, margin = "lockstep", 7, 6 // letters of DejaVu Sans 11 are at most 7 wide on average
	left, right := len(name)*letter+2*margin, len(text)*letter+2*margin
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="20" role="img" aria-label="%s: %s">
<title>%[2]s: %[3]s</title>
<rect width="%[4]d" height="20" rx="3" fill="#444"/>
<rect x="%[4]d" width="%[5]d" height="20" rx="3" fill="%[6]s"/>
<rect x="%[4]d" width="4" height="20" fill="%[6]s"/>
<g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11">
<text x="%[7]d" y="14">%[2]s</text>
<text x="%[8]d" y="14">%[3]s</text>
</g>
</svg>
`, left+right, name, text, left, right, color, left/2, left+right/2)
	return err
}
