package engine

import (
	"regexp"
	"runtime/debug"
	"strings"
)

// Version is the version of lockstep that run files and reports name: the one that was released, or else the next one.
var Version = version(debug.ReadBuildInfo())

const (
	module      = "github.com/lockstep-dev/lockstep"
	nextVersion = "0.1.0"
)

// released matches the versions of releases, and not those that Go makes up for a commit.
var released = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-(alpha|beta|rc)[.0-9]*)?$`)

// version finds lockstep among the modules of the program: it may be the program itself, or a library in tests.
func version(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return nextVersion
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && released.MatchString(m.Version) {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return nextVersion
}
