module github.com/lockstep-dev/lockstep/harness/transport/ws/bench

go 1.26.0

require (
	github.com/coder/websocket v1.8.15
	github.com/lockstep-dev/lockstep v0.0.0
)

require (
	github.com/andybalholm/brotli v1.2.8 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
)

replace github.com/lockstep-dev/lockstep => ../../../..
