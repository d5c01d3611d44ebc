// Package gen holds what is made from openapi.yaml and the configuration that makes it.
//
//   - api: the contract's types in Go
//   - server: the Echo strict-server interface
//   - client: the Go client
//   - ts: types and a client in TypeScript
//
// Nothing in those folders is edited by hand: change openapi.yaml or a configuration and run `make generate`.
package gen

//go:generate go tool oapi-codegen --config api.yaml ../openapi.yaml
//go:generate go tool oapi-codegen --config server.yaml ../openapi.yaml
//go:generate go tool oapi-codegen --config client.yaml ../openapi.yaml
//go:generate npm --prefix ../reference run --silent generate
