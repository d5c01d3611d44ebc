// Command goosecontract compares openapi.yaml with the document that goose publishes for its server.
//
// The contract must have everything in that document which a client may rely on: paths, methods, parameters, required
// fields, enum values, types, names of schemas. Where goose's server deviates from its own document, the contract
// follows the server, and exceptions.yaml gives the reason. The published document is not part of this repository.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const (
	exitAgree  = 0
	exitDiffer = 1 // something is missing, or an exception is stale
	exitUsage  = 2 // a flag or a file is wrong; nothing was compared
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// files are the paths of the documents and of the exceptions.
type files struct{ published, contract, exceptions string }

func run(args []string, stdout, stderr io.Writer) int {
	var in files
	flags := flag.NewFlagSet("goosecontract", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&in.published, "published", "", "the document that goose publishes")
	flags.StringVar(&in.contract, "contract", "../../openapi.yaml", "the contract")
	flags.StringVar(&in.exceptions, "exceptions", "exceptions.yaml", "where the contract differs, and why")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if err := in.check(); err != nil {
		fmt.Fprintf(stderr, "goosecontract: %v\n", err)
		return exitUsage
	}
	report, err := compare(in)
	if err != nil {
		fmt.Fprintf(stderr, "goosecontract: %v\n", err)
		return exitUsage
	}
	report.print(stdout)
	if report.differs() {
		return exitDiffer
	}
	return exitAgree
}

// check returns an error if the published document is missing, as in a fresh clone.
func (in files) check() error {
	if in.published == "" {
		return errors.New("-published is required: pass the path of the document that goose publishes")
	}
	if _, err := os.Stat(in.published); err != nil {
		return fmt.Errorf("there is no published document at %q: set GOOSE_OPENAPI to the path of goose's openapi.json, version 1.16.0", in.published)
	}
	return nil
}
