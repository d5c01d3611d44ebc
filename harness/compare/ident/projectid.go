package ident

// A ProjectID is an id in a text that has one of the project's own shapes.
type ProjectID struct {
	Start, End int // of the whole match
	From, To   int // of the generated part
}

// ProjectIDs returns the ids in a text that have one of the project's own shapes.
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
