// Command items is a server of items for benchmarks with many scenarios.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("GET /items/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{
			"id": r.PathValue("id"), "name": "an item of the shelf", "tags": []string{"a", "b", "c"}, "n": 17,
		})
	})
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
