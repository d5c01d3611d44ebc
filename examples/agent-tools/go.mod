module example.com/agent-tools

go 1.26.0

require github.com/lockstep-dev/lockstep v0.0.0

require (
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
)

replace github.com/lockstep-dev/lockstep => ../..
