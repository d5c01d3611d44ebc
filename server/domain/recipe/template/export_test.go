package template

// Searched returns how many bytes parsing a text searches for closing braces.
func Searched(text string) int {
	c := newCutter(text)
	c.split() // also for a text that is not a template
	return c.looked
}

// Spend counts looks without doing anything.
func (w *Work) Spend(looks int) { w.looks += looks }

// Counted returns the number of pieces, and of bytes and items that expressions have looked at.
func (w *Work) Counted() (pieces, looks int) { return w.pieces, w.looks }
