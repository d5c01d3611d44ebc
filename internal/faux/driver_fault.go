package faux

import "net/http"

// A DriverFault is one way in which a Driver, or the library behind it, is wrong.
type DriverFault struct {
	ID  string
	Doc string // what it does, in one sentence
	In  string // the scenario that shows the fault
	// Says lists exactly the findings that a judge must report when the candidate has the fault.
	Says []Finding
	// Turned lists them for a reference that has the fault. Nil means the same findings with the sides swapped.
	Turned []Finding
	// Also says that other scenarios may show the fault, too.
	Also bool
	// Reason says what became of the process; "" when it does not matter. A reference without a process is not judged.
	Reason string

	outcome func(r *driverRun, d *deed, o object) bool // writes an outcome; false lets the driver write it
	request func(*http.Request)                        // changes a request
	target  func(string) string                        // changes a URL
	body    func([]byte) []byte                        // changes a body
	crash   func(*deed) bool                           // whether it crashes
	renamed map[string]string                          // kinds of errors that it calls otherwise

	more      int  // it tries so many times more
	hasty     bool // it ignores Retry-After
	stubborn  bool // it repeats a bad request
	stays     bool // it does not follow redirects
	twice     bool // it sends two requests instead of one
	firstPage bool // it reads only the first page
	forgetful bool // it reconnects without Last-Event-ID
	gives     bool // it does not reconnect
	swallows  bool // it returns half of a stream as if it was whole
	holdsOn   bool // it cannot cancel
	deaf      bool // it never reads
	lingers   bool // it does not exit at the end of its input
	status    int  // it exits with this status
}
