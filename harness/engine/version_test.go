package engine

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionIsThatOfTheModule(t *testing.T) {
	for _, tc := range []struct {
		main, dep, want string
	}{
		{"v1.2.3", "", "1.2.3"},
		{"v2.0.0-rc.1", "", "2.0.0-rc.1"},
		{"(devel)", "", "0.1.0"},
		{"", "", "0.1.0"},
		{"v0.0.0-20261123195500-3d62030d0000+dirty", "", "0.1.0"},
		{"v1.2.4-0.20261123195500-3d62030d0000", "", "0.1.0"},
		{"", "v1.2.3", "1.2.3"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Path: module, Version: tc.main}}
		if tc.dep != "" {
			info.Main = debug.Module{Path: "example.com/shop", Version: "(devel)"}
			info.Deps = []*debug.Module{{Path: "example.com/other", Version: "v9.9.9"}, {Path: module, Version: tc.dep}}
		}
		if got := version(info, true); got != tc.want {
			t.Errorf("%q, %q: %s, want %s", tc.main, tc.dep, got, tc.want)
		}
	}
	if got := version(nil, false); got != nextVersion {
		t.Errorf("without build information: %s", got)
	}
}
