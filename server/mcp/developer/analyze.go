package developer

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lockstep-dev/lockstep/server/files"
)

// These bounds limit an analysis (decision X43).
const (
	maxSources  = 10_000
	maxSource   = 1 << 20
	analyzeTime = 5 * time.Second
	maxReport   = 1000 // lines
)

// analyze shows what a file or a directory declares, or who calls a symbol (decisions X43 to X45).
func (p paths) analyze(ctx context.Context, c call) ([]mcp.Content, error) {
	given, focus := c.Need("path"), c.MaybeText("focus")
	follow, depth := orElse(c.Integer("follow_depth"), 2), orElse(c.Integer("max_depth"), 3)
	c.Integer("ast_recursion_limit")
	force := c.Bool("force")
	if c.Err != nil {
		return nil, c.Err
	}
	f, err := p.file(given)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, invalid("Path '%s' does not exist", given)
	}
	ctx, cancel := context.WithTimeout(ctx, analyzeTime)
	defer cancel()
	w := walk{paths: p, ctx: ctx, depth: int(min(depth, maxSources))}
	var report string
	if info.IsDir() {
		w.directory(f.path, "", 1)
		report = w.overview()
	} else {
		content, err := f.content(maxSource)
		if err != nil {
			return nil, err
		}
		w.sources = []source{sourceOf(filepath.Base(f.path), content)}
		report = w.sources[0].outline(given)
	}
	if focus != nil {
		report = focused(w.sources, *focus, int(min(max(follow, 0), maxSources)))
	}
	if n := strings.Count(report, "\n"); n > maxReport && !force {
		return []mcp.Content{text(fmt.Sprintf("LARGE OUTPUT WARNING: %d lines. Call again with force to see them, or with a smaller path.\n", n), nil)}, nil
	}
	return says(report, report, behindOthers), nil
}

func orElse(n *int64, byDefault int64) int64 {
	if n == nil {
		return byDefault
	}
	return *n
}

// A walk analyses the files of a directory.
type walk struct {
	paths
	ctx     context.Context
	depth   int // 0 means no limit
	sources []source
	tree    strings.Builder
}

// directory adds the content of a directory. name is its path relative to the start of the walk. It reports whether
// there was a file.
func (w *walk) directory(path, name string, depth int) bool {
	entries, _ := os.ReadDir(path) // sorted by name
	found := false
	indent := strings.Repeat("  ", depth-1)
	for _, entry := range entries {
		below := filepath.Join(path, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") || w.ignored(below) || w.ctx.Err() != nil || len(w.sources) == maxSources {
			continue
		}
		switch known := analyzedEndings[filepath.Ext(entry.Name())] != ""; {
		case entry.IsDir() && (w.depth <= 0 || depth < w.depth):
			found = w.nested(below, filepath.Join(name, entry.Name()), indent, depth) || found
		case entry.Type().IsRegular() && known:
			if content, err := files.ReadText(below, maxSource); err == nil {
				s := sourceOf(filepath.Join(name, entry.Name()), content)
				w.sources = append(w.sources, s)
				w.tree.WriteString(indent + entry.Name() + " " + s.counted() + s.mainAt() + "\n")
				found = true
			}
		}
	}
	return found
}

// nested adds a subdirectory, unless it is empty.
func (w *walk) nested(path, name, indent string, depth int) bool {
	inner := walk{paths: w.paths, ctx: w.ctx, depth: w.depth, sources: w.sources}
	found := inner.directory(path, name, depth+1)
	w.sources = inner.sources
	if found {
		w.tree.WriteString(indent + filepath.Base(path) + "/\n" + inner.tree.String())
	}
	return found
}

func (s source) counted() string {
	return fmt.Sprintf("[%dL, %dF, %dC]", s.lines, len(s.functions), len(s.classes))
}

func (s source) mainAt() string {
	if i := slices.IndexFunc(s.functions, func(f symbol) bool { return f.name == "main" }); i >= 0 {
		return fmt.Sprintf(" main:%d", s.functions[i].line)
	}
	return ""
}

// overview summarises the directory.
func (w *walk) overview() string {
	lines, functions, classes := 0, 0, 0
	share := map[string]int{}
	for _, s := range w.sources {
		lines, functions, classes = lines+s.lines, functions+len(s.functions), classes+len(s.classes)
		share[s.language] += s.lines
	}
	var names []string
	for name := range share {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(share[b]-share[a], cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d%%)", name, share[name]*100/max(lines, 1))
	}
	if names == nil {
		names = []string{"none"}
	}
	return fmt.Sprintf("SUMMARY:\nShown: %d files, %dL, %dF, %dC (max_depth=%d)\nLanguages: %s\n\nPATH [LOC, FUNCTIONS, CLASSES] <FLAGS>\n%s",
		len(w.sources), lines, functions, classes, max(w.depth, 0), strings.Join(names, ", "), w.tree.String())
}

// outline returns the declarations in the file.
func (s source) outline(given string) string {
	blocks := map[string][]string{}
	add := func(block string, symbols []symbol) {
		for _, symbol := range symbols {
			blocks[block] = append(blocks[block], fmt.Sprintf("%s:%d", symbol.name, symbol.line))
		}
	}
	add("C", s.classes)
	add("F", s.functions)
	blocks["I"] = s.imports
	for _, call := range s.calls {
		if slices.ContainsFunc(s.functions, func(f symbol) bool { return f.name == call.name }) {
			add("R", []symbol{call.symbol})
		}
	}
	out := "FILE: " + given + " " + s.counted() + "\n"
	for _, name := range []string{"C", "F", "I", "R"} {
		if len(blocks[name]) > 0 {
			out += "\n" + name + ":\n  " + strings.Join(blocks[name], "\n  ") + "\n"
		}
	}
	return out
}

// focused returns where a symbol is declared, the calls that lead to it, and the calls that lead away from it.
func focused(sources []source, name string, depth int) string {
	var definitions []string
	functions := map[string]bool{}
	for _, s := range sources {
		var found []symbol
		for _, f := range s.functions {
			functions[f.name] = true
			found = append(found, symbol{f.name + " function", f.line})
		}
		for _, c := range s.classes {
			found = append(found, symbol{c.name + " class", c.line})
		}
		slices.SortFunc(found, func(a, b symbol) int { return a.line - b.line })
		for _, d := range found {
			if declared, kind, _ := strings.Cut(d.name, " "); declared == name {
				definitions = append(definitions, fmt.Sprintf("  %s:%d %s", s.name, d.line, kind))
			}
		}
	}
	if definitions == nil {
		return "Symbol '" + name + "' not found in any analyzed files.\n"
	}
	incoming := chains(sources, functions, name, depth, func(c callee) (string, string) { return c.name, c.caller })
	outgoing := chains(sources, functions, name, depth, func(c callee) (string, string) { return c.caller, c.name })
	block := func(title string, lines []string) string {
		return "\n" + strings.Join(append([]string{title + ":"}, lines...), "\n") + "\n"
	}
	return "FOCUSED ANALYSIS: " + name + "\n" + block("DEFINITIONS", definitions) + block("INCOMING", incoming) + block("OUTGOING", outgoing) +
		block("STATISTICS", []string{fmt.Sprintf("  Files: %d\n  Definitions: %d\n  Incoming: %d\n  Outgoing: %d", len(sources), len(definitions), len(incoming), len(outgoing))})
}

// chains follows calls of functions from a name, nearest first, each call once. ends returns the name from which a
// call is followed, and the name to which it leads.
func chains(sources []source, functions map[string]bool, name string, depth int, ends func(callee) (from, to string)) (lines []string) {
	next, seen := []string{name}, map[string]bool{name: true}
	for ; depth > 0 && len(next) > 0; depth-- {
		now := next
		next = nil
		for _, s := range sources {
			for _, call := range s.calls {
				from, to := ends(call)
				if call.caller == "" || !functions[call.name] || !slices.Contains(now, from) {
					continue
				}
				lines = append(lines, fmt.Sprintf("  %s -> %s (%s:%d)", call.caller, call.name, s.name, call.line))
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
	}
	return lines
}
