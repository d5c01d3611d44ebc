//go:build unix && !linux

package target

// AdoptOrphans does nothing where a program cannot become the parent of its orphans.
func AdoptOrphans() {}

func adopted(proc) bool { return false }
func reapOrphans()      {}
