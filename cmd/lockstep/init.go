package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-dev/lockstep/harness/contract"
	"github.com/lockstep-dev/lockstep/harness/lab/scaffold"
	"github.com/lockstep-dev/lockstep/harness/project"
	"github.com/lockstep-dev/lockstep/harness/scenario"
	"github.com/lockstep-dev/lockstep/internal/regular"
)

// initFlags are the flags of lockstep init.
type initFlags struct {
	config      string
	scenarios   string
	destructive bool
	targets     []scaffold.Target // from --url, --command and --program, in the order of the command line
}

func initCommand(w *environment) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init [openapi.yaml]",
		Short: "Creates a first lockstep.yaml, and a scenario for each operation of an OpenAPI document",
		Long: `Creates a first project from an OpenAPI document (openapi.yaml, .yml or .json): a lockstep.yaml, and a scenario for each
operation. Each request is valid, and uses the document's examples or values within its bounds. If a path names a
resource and the document has a POST for it, the scenario creates the resource first. A scenario is saved as
.yaml.todo, with the reason, if no valid request can be generated, or if the operation may destroy what a server holds:
DELETE, and names such as shutdown, upgrade and reset. --destructive writes the latter as scenarios, too.

A document may also have a URL; a copy of it is saved beside lockstep.yaml. If no document is named and there is none,
the project has no contract: servers are compared, and nothing says which one is wrong.

No file is overwritten, and no server is started. The first target is the reference.`,
		Example: `  lockstep init
  lockstep init api/openapi.yaml --url old=http://127.0.0.1:3000 --url new=http://127.0.0.1:3001
  lockstep init http://127.0.0.1:3000/openapi.json --url old=http://127.0.0.1:3000
  lockstep init --command 'old=node old/server.mjs --port ${{ port }}' --command 'new=PORT=${{ port }} ./new-server'`,
		Args: atMostOne("OpenAPI document"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.init(cmd.Context(), strings.Join(args, ""), w.stdout)
		},
	}
	configFlag(cmd, &f.config)
	fl := cmd.Flags()
	fl.BoolVar(&f.destructive, "destructive", false, "also write scenarios that may destroy what a server holds")
	fl.StringVar(&f.scenarios, "scenarios", "scenarios", "the folder for the scenarios, relative to lockstep.yaml")
	fl.Var(targetFlag{&f.targets, runningTarget}, "url", "name=URL of a running server; repeat for more")
	fl.Var(targetFlag{&f.targets, commandTarget}, "command", "name=COMMAND that starts a server on ${{ port }}, after any environment variables such as PORT=${{ port }}; repeat for more")
	fl.Var(targetFlag{&f.targets, programTarget}, "program", "name=COMMAND of a program that talks over standard input and output; repeat for more")
	return cmd
}

// contractNames are the default names of the contract.
var contractNames = []string{"openapi.yaml", "openapi.yml", "openapi.json"}

// contractHere returns the first of contractNames that exists, or "".
func contractHere() string {
	for _, name := range contractNames {
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	return ""
}

// A targetFlag appends its targets to the list that several flags share.
type targetFlag struct {
	all   *[]scaffold.Target
	parse func(name, text string) (scaffold.Target, error)
}

func (f targetFlag) String() string { return "" }
func (f targetFlag) Type() string   { return "name=..." } // help shows it, and measures it in bytes

func (f targetFlag) Set(value string) error {
	name, text, ok := strings.Cut(value, "=")
	if !ok || !targetName.MatchString(name) {
		return errors.New("write name=…, with lower-case letters, digits and hyphens in the name")
	}
	if slices.ContainsFunc(*f.all, func(t scaffold.Target) bool { return t.Name == name }) {
		return fmt.Errorf("two targets are called %q", name)
	}
	t, err := f.parse(name, text)
	*f.all = append(*f.all, t)
	return err
}

var targetName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

func runningTarget(name, text string) (scaffold.Target, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
		return scaffold.Target{}, errors.New("write name=http://host:port")
	}
	return scaffold.Target{Name: name, URL: text}, nil
}

// commandWord matches one word of a command line: quoted pieces, expressions, and characters that are not blank.
var commandWord = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|\$\{\{[^}]*\}\}|[^\s'"])+`)

// assignment matches a word that sets an environment variable.
var assignment = regexp.MustCompile(`(?s)^([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)

func commandTarget(name, text string) (scaffold.Target, error) {
	t, err := programTarget(name, text)
	t.Program = false
	if err == nil && !strings.Contains(strings.Join(strings.Fields(text), ""), "${{port}}") {
		err = errors.New("say where the server listens: ${{ port }} is a free port")
	}
	return t, err
}

func programTarget(name, text string) (scaffold.Target, error) {
	t := scaffold.Target{Name: name, Program: true}
	for _, word := range commandWord.FindAllString(text, -1) {
		word = strings.NewReplacer("'", "", `"`, "").Replace(word)
		if m := assignment.FindStringSubmatch(word); m != nil && len(t.Command) == 0 {
			t.Env = append(t.Env, [2]string{m[1], m[2]})
			continue
		}
		t.Command = append(t.Command, word)
	}
	if len(t.Command) == 0 {
		return t, errors.New("write name=program and its arguments")
	}
	return t, nil
}

func (f *initFlags) init(ctx context.Context, contract string, out io.Writer) error {
	if _, err := os.Lstat(f.config); !errors.Is(err, fs.ErrNotExist) {
		return &project.UsageError{What: f.config + " already exists", Fix: "name another file with --config, or use another folder"}
	}
	dir := filepath.Dir(f.config)
	fetched := strings.HasPrefix(contract, "http://") || strings.HasPrefix(contract, "https://")
	switch {
	case fetched:
		file, err := download(ctx, contract, dir)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "fetched    %s\n", file)
		contract = file
	case contract == "":
		contract = contractHere()
	}
	d, err := scaffoldProject(contract, &scaffold.Options{
		Targets: f.targets, Contract: seenFrom(dir, contract), Scenarios: filepath.ToSlash(f.scenarios), Destructive: f.destructive,
	})
	if err != nil {
		return err
	}
	if contract == "" {
		fmt.Fprintf(out, "without a contract: there is no OpenAPI document here, and none was named\n")
	}
	if err := writeNew(f.config, d.Config); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote      %s\n", f.config)
	complete := false
	for _, s := range d.Scenarios {
		complete = complete || s.Missing == ""
		path := filepath.Join(beside(f.config, f.scenarios), filepath.FromSlash(s.Name))
		switch err := writeNew(path, s.Text); {
		case errors.Is(err, fs.ErrExist):
			fmt.Fprintf(out, "kept       %s, which already exists\n", path)
		case err != nil:
			return err
		case s.Missing != "":
			fmt.Fprintf(out, "set aside  %s (%s): %s\n", path, s.Operation, s.Missing)
		default:
			fmt.Fprintf(out, "wrote      %s (%s)\n", path, s.Operation)
		}
	}
	if !complete {
		_, err := fmt.Fprintf(out, "\nno scenario is complete: correct one that was set aside, and remove .todo from its name\n")
		return err
	}
	return f.next(out)
}

// seenFrom returns a path as files in a folder refer to it.
func seenFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(path)
}

// writeNew writes a file, and fails if it exists.
func writeNew(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// next loads the new project as every command will, and prints what to do next.
func (f *initFlags) next(out io.Writer) error {
	p, err := load(f.config)
	if err != nil {
		return err
	}
	config := ""
	if f.config != "lockstep.yaml" {
		config = " -c " + f.config
	}
	fmt.Fprintf(out, "\nnext, with %s:\n", count(len(p.Scenarios), "scenario"))
	if len(f.targets) == 0 {
		fmt.Fprintf(out, "  write in %s where your two servers run, or how to start them\n", f.config)
	}
	alone := fmt.Sprintf("run%s --target %s", config, p.Reference)
	line := func(command, what string) { fmt.Fprintf(out, "  lockstep %-*s   %s\n", len(alone), command, what) }
	if p.Contract.IsAbsent() {
		line(alone, "one server alone, against what the scenarios expect")
	} else {
		line(alone, "one server alone, against the contract")
		if n := len(p.Contract.Notes()); n > 0 {
			line("lint"+config, count(n, "note")+" about the document, such as an example that does not match")
		}
	}
	if len(p.Targets) != 1 {
		line("run"+config, "all targets, against "+p.Reference)
	}
	line("noise"+config, fmt.Sprintf("what differs between %s and itself, and the rules for it", p.Reference))
	return nil
}

// scaffoldProject drafts a project from an OpenAPI document, or without one if file is "": the text of lockstep.yaml and
// of the scenarios. It writes no files. If the document has mistakes, the error is scenario.Problems.
func scaffoldProject(file string, options *scaffold.Options) (*scaffold.Project, error) {
	if file == "" {
		return scaffold.New(contract.Absent(), options), nil
	}
	defer collectRarely()()
	data, err := regular.Read(file)
	if err != nil {
		return nil, &project.UsageError{What: err.Error(), Fix: "name the OpenAPI document: lockstep init path/to/openapi.yaml"}
	}
	doc, err := contract.Parse(data, &contract.Options{File: file, KeepTree: true, Open: project.NewContractFiles(file).Open})
	if problems, ok := errors.AsType[contract.Problems](err); ok {
		var out scenario.Problems
		for _, p := range problems {
			out = append(out, scenario.Problem(p))
		}
		return nil, out
	}
	return scaffold.New(doc, options), err
}
