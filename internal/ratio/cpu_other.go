//go:build !unix

package ratio

import "time"

func processTime() time.Duration { return 0 }
