package config

import (
	"github.com/lockstep-dev/lockstep/gen/api"
	"github.com/lockstep-dev/lockstep/server/domain/extension"
	"github.com/lockstep-dev/lockstep/server/httpapi/body"
	"github.com/lockstep-dev/lockstep/server/wire/decode"
)

// Bodies are the decoders of the request bodies, by operation.
var Bodies = map[string]body.Shape{
	"readConfig":         body.ShapeOf(decodeKey),
	"removeConfig":       body.ShapeOf(decodeKey),
	"upsertConfig":       body.ShapeOf(decodeUpsert),
	"addExtensionConfig": body.ShapeOf(decodeExtension),
	"upsertPermissions":  body.ShapeOf(decodePermissions),
}

func decodeKey(v decode.Value) (api.ConfigKeyQuery, error) {
	o := v.Object("key", "is_secret")
	return api.ConfigKeyQuery{Key: o.String("key"), IsSecret: o.Bool("is_secret")}, o.Err()
}

func decodeUpsert(v decode.Value) (api.UpsertConfigQuery, error) {
	o := v.Object("key", "value", "is_secret")
	return api.UpsertConfigQuery{Key: o.String("key"), Value: o.Any("value"), IsSecret: o.Bool("is_secret")}, o.Err()
}

func decodeExtension(v decode.Value) (api.ExtensionQuery, error) {
	o := v.Object("name", "config", "enabled")
	return api.ExtensionQuery{
		Name: o.String("name"), Config: decode.Field(o, "config", extension.Checked), Enabled: o.Bool("enabled"),
	}, o.Err()
}

func decodePermissions(v decode.Value) (api.UpsertPermissionsQuery, error) {
	o := v.Object("tool_permissions")
	return api.UpsertPermissionsQuery{ToolPermissions: decode.List(o, "tool_permissions", decodePermission)}, o.Err()
}

func decodePermission(v decode.Value) (api.ToolPermission, error) {
	o := v.Object("tool_name", "permission")
	return api.ToolPermission{
		ToolName: o.String("tool_name"),
		Permission: api.PermissionLevel(o.OneOf("permission",
			string(api.PermissionLevelAlwaysAllow), string(api.PermissionLevelAskBefore), string(api.PermissionLevelNeverAllow))),
	}, o.Err()
}
