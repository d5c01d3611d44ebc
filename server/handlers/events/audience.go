package events

// An Audience says which events a stream gets. It is one of [InDirectory], [Everywhere],
// [OfClient] and [OfSockets].
type Audience struct {
	kind      kind
	directory string
	client    string
}

// InDirectory is the audience of the events in one directory.
func InDirectory(directory string) Audience { return Audience{kind: ofDirectory, directory: directory} }

// Everywhere is the audience of the events in all directories.
func Everywhere() Audience { return Audience{kind: ofServer} }

// OfClient is the audience of what is sent to one client from one directory.
func OfClient(directory, clientID string) Audience {
	return Audience{kind: ofClient, directory: directory, client: clientID}
}

// OfSockets is the audience of [OfClient] that listens on WebSockets. Their frames are different.
func OfSockets(directory, clientID string) Audience {
	return Audience{kind: ofSockets, directory: directory, client: clientID}
}

// Attrs describes the audience for a log. It leaves out the directory, which comes from a query string and must not
// be logged.
func (a Audience) Attrs() []any {
	switch a.kind {
	case ofDirectory:
		return []any{"stream", "directory"}
	case ofServer:
		return []any{"stream", "global"}
	case ofSockets:
		return []any{"stream", "socket", "client", a.client}
	}
	return []any{"stream", "pending", "client", a.client}
}

type kind int

const (
	ofDirectory kind = iota
	ofServer
	ofClient
	ofSockets
)

// kinds are the kinds of streams in the order in which they end when the server stops (decision S19).
var kinds = [...]kind{ofDirectory, ofServer, ofClient, ofSockets}
