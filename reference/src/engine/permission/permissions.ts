import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { isObject } from '../../wire/json/is-object.ts'
import { isMissing } from '../../error-code.ts'
import { readRegularFile } from '../../settings/regular-file.ts'
import type { Settings } from '../../settings/settings.ts'
import { NotAMappingError, parseMapping, renderMapping, replaceFile, type Mapping } from '../../settings/yaml-file.ts'

const levels = ['always_allow', 'ask_before', 'never_allow'] as const
type PermissionLevel = (typeof levels)[number]

const modes = ['auto', 'approve', 'smart_approve', 'chat'] as const
export type Mode = (typeof modes)[number]

/** The mode in which tools run; `auto` unless the settings say otherwise (GA 18.1). */
export function modeOf(settings: Settings): Mode {
  const set = settings.get('GOOSE_MODE')
  return modes.find((mode) => mode === set) ?? 'auto'
}

/** permission.yaml cannot be read. */
export class UnreadablePermissionsError extends Error {
  override readonly name = 'UnreadablePermissionsError'
}

/** The permission levels of tools, as set by a person or by the engine (GA 17.2). */
export class Permissions {
  readonly #levels: Mapping

  /** Reads permission.yaml. A file that is not a mapping counts as empty; a file that cannot be read is an error (G13). */
  constructor(settings: Settings) {
    this.#levels = readLevels(settings)
  }

  of(category: 'user' | 'smart_approve', tool: string): PermissionLevel | null {
    const lists = this.#levels[category]
    if (!isObject(lists)) return null
    return levels.find((level) => isListed(lists[level], tool)) ?? null
  }

  /** The level that clients see for a tool (GA 6.4). */
  shown(mode: Mode, tool: string): PermissionLevel | null {
    const given = this.of('user', tool)
    if (given !== null) return given
    switch (mode) {
      case 'approve':
        return 'ask_before'
      case 'smart_approve':
        return this.of('smart_approve', tool)
      case 'auto':
      case 'chat':
        return null
      default:
        return mode satisfies never
    }
  }
}

function isListed(list: unknown, tool: string): boolean {
  return Array.isArray(list) && list.includes(tool)
}

/** Sets the level of a tool in the category `user`, replacing its earlier level (GA 10.12). */
export function setPermission(settings: Settings, tool: string, level: PermissionLevel): void {
  const mapping = readLevels(settings)
  const user = isObject(mapping.user) ? mapping.user : {}
  const lists = levels.map((one): [string, unknown[]] => {
    const listed = Array.isArray(user[one]) ? (user[one] as unknown[]).filter((name) => name !== tool) : []
    return [one, one === level ? [...listed, tool] : listed]
  })
  const path = permissionFile(settings)
  replaceFile(path, `${path}.tmp`, renderMapping({ ...mapping, user: Object.fromEntries(lists) }))
}

function readLevels(settings: Settings): Mapping {
  try {
    const bytes = readRegularFile(permissionFile(settings))
    if (!isUtf8(bytes)) throw new Error('permission.yaml is not UTF-8')
    return parseMapping(bytes)
  } catch (error) {
    if (error instanceof NotAMappingError || isMissing(error)) return {}
    throw new UnreadablePermissionsError('Permissions cannot be read', { cause: error })
  }
}

function permissionFile({ paths }: Settings): string {
  return join(paths.config, 'permission.yaml')
}
