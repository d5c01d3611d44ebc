import type * as contract from '#contract'
import { recipeCommands } from '../../domain/recipe/recipe-commands.ts'
import { permissionLevel, setPermissions } from '../../engine/permission/permissions.ts'
import { operation, renderLarge, withBody, type Operation } from '../../httpapi/operation.ts'
import { array, bodyOf, object, string } from '../../wire/json/shape.ts'
import type { ConfigDeps } from './settings.ts'

const permissionsRequest = bodyOf<contract.UpsertPermissionsQuery>()({
  tool_permissions: array(object<contract.ToolPermission>({ tool_name: string, permission: permissionLevel })),
})

/** `POST /config/permissions` (GA 10.12). All levels are stored, or none. */
export function upsertPermissions(
  { settings }: ConfigDeps,
): Operation<contract.UpsertPermissionsData, contract.UpsertPermissionsResponses, contract.UpsertPermissionsErrors> {
  return withBody(permissionsRequest, ({ body: { tool_permissions: changes }, errors }) => {
    try {
      setPermissions(settings, changes)
    } catch (cause) {
      throw errors.bare(500, 'permissions not stored', { cause, isLogged: true })
    }
    return { status: 200, body: 'Permissions updated successfully' }
  })
}

const compact: contract.SlashCommand = { command: 'compact', help: 'Compact the current conversation to save tokens', command_type: 'Builtin' }

/** `GET /config/slash_commands` (GA 10.13). */
export function listSlashCommands(
  { settings }: ConfigDeps,
): Operation<contract.GetSlashCommandsData, contract.GetSlashCommandsResponses, contract.GetSlashCommandsErrors> {
  return operation(() => {
    const ofRecipes = recipeCommands(settings).map(({ command, path }): contract.SlashCommand => ({ command, help: path, command_type: 'Recipe' }))
    return renderLarge({ commands: [...ofRecipes, compact] })
  })
}
