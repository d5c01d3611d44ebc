//go:build !linux

package main

// confine does nothing on this system, where tests mount no file systems.
func confine() {}

// beExtension does nothing on this system, where no test starts an extension.
func beExtension() {}
