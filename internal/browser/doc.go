// Package browser tests in a browser what pages meet there: the report, the servers, and the client library for
// TypeScript. It is a module of its own, so that lockstep itself does not depend on what drives the browser.
package browser
