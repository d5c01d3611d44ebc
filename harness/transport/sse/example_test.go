package sse_test

import (
	"fmt"
	"strings"

	"github.com/lockstep-dev/lockstep/harness/transport/sse"
)

func ExampleReader() {
	r := sse.NewReader(strings.NewReader("id: 1\ndata:{}\n\n: still here\n\nretry: 500\n\ndata: cut off"), nil)
	for {
		ev, err := r.Next()
		if err != nil {
			fmt.Printf("%v, after %q\n", err, r.Unfinished())
			return
		}
		fmt.Printf("%q id=%q comment=%t undispatched=%t framing=%q\n", ev.Data, ev.ID, ev.Comment, ev.Undispatched, ev.Framing)
	}
	// Output:
	// "{}" id="1" comment=false undispatched=false framing="id: •\ndata:•\n\n"
	// "still here" id="" comment=true undispatched=false framing=": •\n"
	// "" id="" comment=true undispatched=true framing="\n"
	// "" id="" comment=false undispatched=true framing="retry: •\n\n"
	// EOF, after "data: cut off"
}
