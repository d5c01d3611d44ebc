package text

import (
	"strings"

	"github.com/lockstep-dev/lockstep/harness/report/internal/textfit"
	"github.com/lockstep-dev/lockstep/internal/legible"
)

// minWrap is the least number of columns of a wrapped line.
const minWrap = 20

// wrap cuts a line into pieces: the first one of at most first columns, the others of at most rest. It cuts at spaces, and
// within words only if they are longer than a line. Escape sequences for colours take no column.
func wrap(line string, first, rest int) []string {
	var pieces []string
	columns, room := 0, first
	from, space := 0, -1 // where the piece begins, and its last space
	color := ""          // that is in force
	begun := ""          // that was in force where the piece began
	emit := func(to, next int) {
		piece := begun + line[from:to]
		if color != "" {
			piece += "\x1b[0m"
		}
		pieces = append(pieces, piece)
		from, space, room, begun = next, -1, rest, color
	}
	spaceColor, spaceColumns := "", 0
	for i := 0; i < len(line); {
		if n := escape(line[i:]); n > 0 {
			if color = line[i : i+n]; color == "\x1b[0m" {
				color = ""
			}
			i += n
			continue
		}
		shape, n := legible.Glyph(line[i:])
		wide := textfit.GlyphColumns(shape)
		if columns+wide > room {
			if line[i] == ' ' {
				emit(i, i+1)
				columns = 0
				i += n
				continue
			}
			if space > from {
				now := color
				color = spaceColor
				left := columns - spaceColumns - 1
				emit(space, space+1)
				color, columns = now, left
			} else {
				emit(i, i)
				columns = 0
			}
		}
		if line[i] == ' ' && strings.TrimLeft(line[from:i], " ") != "" {
			space, spaceColor, spaceColumns = i, color, columns
		}
		columns += wide
		i += n
	}
	return append(pieces, begun+line[from:])
}

// escape returns the length of the escape sequence at the beginning of a text.
func escape(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	return strings.IndexByte(s, 'm') + 1
}
