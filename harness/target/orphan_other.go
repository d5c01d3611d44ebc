//go:build unix && !linux

package target

// AdoptOrphans does nothing on systems where a program cannot adopt its orphans.
func AdoptOrphans() {}

func adopted(proc) bool { return false }
func reapOrphans()      {}
