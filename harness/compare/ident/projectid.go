package ident

// An ProjectID is an id of one of a project's own shapes, in a text.
type ProjectID struct {
	Start, End int // of all that the pattern describes
	From, To   int // of what is made up
}

// ProjectIDs returns the ids of the project's own shapes that stand in a text.
func ProjectIDs(ids []IDShape, text string) []ProjectID {
	if len(ids) == 0 {
		return nil
	}
	var out []ProjectID
	shapes := newProjectShapes(ids)
	for at := 0; ; {
		found, _, ok := shapes.next(text, at)
		if !ok {
			return out
		}
		if end := timeAround(text, at, found); end > 0 {
			at = end
			continue
		}
		out = append(out, ProjectID{found.start, found.end, found.token.Start, found.token.End})
		at = found.end
	}
}
