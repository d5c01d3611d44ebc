// Package browser tests the report's page in a browser. It is a module of its own, so that lockstep itself does not
// depend on what drives the browser.
package browser
