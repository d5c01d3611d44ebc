// Package browser holds the report's page to what a browser makes of it. It is a module of its own, so that what drives
// the browser stays out of lockstep's.
package browser
