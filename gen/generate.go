// Package gen holds the code that is generated from openapi.yaml, and the configuration of the generators.
//
//   - api: the contract's types in Go
//   - server: the Echo strict-server interface
//   - client: the Go client
//   - ts: types and a client in TypeScript; ts/server has the types for the TypeScript server, whose integers keep all digits
//
// Do not edit the files in those folders: change openapi.yaml, overlay.yaml or a configuration and run `make generate`.
package gen

//go:generate go tool oapi-codegen --config api.yaml -o api/api.gen.go ../openapi.yaml
//go:generate go tool oapi-codegen --config server.yaml -o server/server.gen.go ../openapi.yaml
//go:generate go tool oapi-codegen --config client.yaml -o client/client.gen.go ../openapi.yaml
//go:generate npm --prefix ../reference run --silent generate
