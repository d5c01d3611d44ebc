package target_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/lockstep-dev/lockstep/harness/target"
)

func ExampleStart() {
	ctx := context.Background()
	server, err := target.Start(ctx, target.Spec{
		Name:    "go",
		Command: []string{"agentd", "serve", "--listen", "${{ host }}:${{ port }}"},
		Env:     map[string]string{"AGENTD_DB": ":memory:"},
		Ready:   target.Ready{Path: "/status", Within: 20 * time.Second},
	}, &target.Options{Environ: os.Environ()})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Stop(ctx)
	fmt.Println("ready at", server.URL())
}
