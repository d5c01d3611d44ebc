package sse

// Data returns the frame of an event without a name. The data must be a single line, such as JSON without blanks.
func Data(line []byte) []byte {
	return frame("data: ", line)
}

// Event returns the frame of a named event.
func Event(name string, line []byte) []byte {
	return frame("event: "+name+"\ndata: ", line)
}

// Comment returns the frame of a comment, which clients ignore.
func Comment(text string) []byte {
	return frame(": ", []byte(text))
}

func frame(head string, line []byte) []byte {
	b := make([]byte, 0, len(head)+len(line)+2)
	b = append(b, head...)
	b = append(b, line...)
	return append(b, "\n\n"...)
}
