// Package gen holds what is made from openapi.yaml and the configuration that makes it.
//
//   - api: the contract's types in Go
//   - server: the Echo strict-server interface
//   - client: the Go client
//   - ts: types and a client in TypeScript; ts/server has the types of the TypeScript server, in which integers keep all digits
//
// Nothing in those folders is edited by hand: change openapi.yaml or a configuration and run `make generate`.
package gen

//go:generate go tool oapi-codegen --config api.yaml -o api/api.gen.go ../openapi.yaml
//go:generate go tool oapi-codegen --config server.yaml -o server/server.gen.go ../openapi.yaml
//go:generate go tool oapi-codegen --config client.yaml -o client/client.gen.go ../openapi.yaml
//go:generate npm --prefix ../reference run --silent generate
