package faux

// A ToolFault is one way in which a Tool is wrong.
type ToolFault struct {
	ID  string
	Doc string // what the tool does, in one sentence
	In  string // the scenario that shows the fault
	// Says lists exactly the findings that a judge must report when the candidate has the fault.
	Says []Finding
	// Turned lists them for a reference that has the fault. Nil means the same findings with the sides swapped.
	Turned []Finding
	// Also says that other scenarios may show the fault, too.
	Also bool

	say   func(r *toolRun, m object) bool    // writes a message; false lets the tool write it
	take  func(r *toolRun, line string) bool // handles a line; false lets the tool handle it
	log   func(r *toolRun, text string) bool // logs a text; false lets the tool log it
	start func(r *toolRun)                   // runs before the first line

	deaf      bool   // it never reads
	staysOpen bool   // it ignores the end of its input
	undying   bool   // it ignores SIGTERM
	status    int    // it exits with a status that is so much higher
	unpacks   bool   // it answers each message of a batch in a line of its own
	reuses    bool   // its own requests have one id
	impatient bool   // it does not wait for the client
	lastEnd   string // what ends the line that has no end
}
