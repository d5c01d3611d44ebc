package compare

// An OwnID is an id of one of a project's own shapes, in a text.
type OwnID struct {
	Start, End int // of all that the pattern describes
	From, To   int // of what is made up
}

// OwnIDs returns the ids of the project's own shapes that stand in a text.
func (r *Rules) OwnIDs(text string) []OwnID {
	if len(r.IDs) == 0 {
		return nil
	}
	var out []OwnID
	shapes := newOwn(r.IDs)
	for at := 0; ; {
		found, _, ok := shapes.next(text, at)
		if !ok {
			return out
		}
		if end := timeAround(text, at, found); end > 0 {
			at = end
			continue
		}
		out = append(out, OwnID{found.start, found.end, found.token.start, found.token.end})
		at = found.end
	}
}
