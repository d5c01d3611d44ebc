module github.com/lockstep-dev/lockstep/harness/compare/bench

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/josephburnett/jd/v2 v2.5.0
	github.com/lockstep-dev/lockstep v0.0.0
	github.com/wI2L/jsondiff v0.7.1
)

require (
	github.com/andybalholm/brotli v1.2.8 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/theory/jsonpath v0.10.0 // indirect
	github.com/tidwall/gjson v1.18.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
)

replace github.com/lockstep-dev/lockstep => ../../..
