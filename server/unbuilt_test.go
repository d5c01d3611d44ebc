package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/lockstep-dev/lockstep/server/auth"
)

func TestWhatIsUnbuiltSaysSo(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	handler := router{operations: operations{}, key: auth.NewKey("test"), log: slog.New(slog.DiscardHandler)}.handler()
	var seen []string
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if !slices.Contains(unbuilt, operation.OperationID) {
				continue
			}
			seen = append(seen, operation.OperationID)
			w := httptest.NewRecorder()
			r := httptest.NewRequest(method, path, nil)
			r.Header.Set(auth.Header, "test")
			handler.ServeHTTP(w, r)
			if w.Code != http.StatusNotImplemented || w.Body.String() != unbuiltText {
				t.Errorf("%s %s: %d %q, want 501 %q", method, path, w.Code, w.Body, unbuiltText)
			}
		}
	}
	slices.Sort(seen)
	if !slices.Equal(seen, unbuilt) {
		t.Errorf("unbuilt is not a sorted list of operations of the contract: it is %q, and has %q of them", unbuilt, seen)
	}
}
