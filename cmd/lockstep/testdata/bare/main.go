// Command bare does only the one exchange of the benchmark, as the baseline.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	resp, err := http.Get(os.Args[1] + "/status")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || string(body) != "ok" {
		fmt.Fprintln(os.Stderr, resp.Status, string(body), err)
		os.Exit(1)
	}
	fmt.Println("ok")
}
