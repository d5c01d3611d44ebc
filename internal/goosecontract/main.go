// Command goosecontract holds openapi.yaml against the document that goose publishes for its server.
//
// What a client may rely on there has to be here: paths, methods, parameters, required fields, enum values, types, names of
// schemas. Where the server does not do what its document says, the contract follows the server, and exceptions.yaml has
// the reason. The published document is not part of this repository.
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

// files are what is compared.
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

// check says whether the published document is there, which a clone does not have.
func (in files) check() error {
	if in.published == "" {
		return errors.New("-published is required: pass the path of the document that goose publishes")
	}
	if _, err := os.Stat(in.published); err != nil {
		return fmt.Errorf("there is no published document at %q: set GOOSE_OPENAPI to the path of goose's openapi.json, version 1.16.0", in.published)
	}
	return nil
}
