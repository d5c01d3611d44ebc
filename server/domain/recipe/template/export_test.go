package template

// Searched returns how many bytes of a text are searched for closing braces when it is parsed.
func Searched(text string) int {
	c := newCutter(text)
	c.split() // also of a text that is no template
	return c.looked
}

// Spend counts looks that nothing was done for.
func (w *Work) Spend(looks int) { w.looks += looks }
