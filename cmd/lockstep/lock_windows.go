package main

import (
	"io"
	"os"
	"syscall"
)

// lockFile opens a file so that no other process can open it until it is closed or this process ends.
func lockFile(path string) (lock io.Closer, holder string, err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, "", err
	}
	const shared, sharingViolation = 0, syscall.Errno(32) // ERROR_SHARING_VIOLATION
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, shared, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err == sharingViolation {
		return nil, "another process", nil
	}
	if err != nil {
		return nil, "", err
	}
	return os.NewFile(uintptr(handle), path), "", nil
}
