import type * as contract from '#contract'
import { objectOf, withMember } from '../../wire/json/ordered.ts'
import { array, map, object, oneOf, readShape, ShapeError, string, type ReadBy, type Shape } from '../../wire/json/shape.ts'
import type { Settings } from '../../settings/settings.ts'
import { NotAMappingError } from '../../settings/yaml-file.ts'

const levels = ['always_allow', 'ask_before', 'never_allow'] as const
type PermissionLevel = contract.PermissionLevel

export const permissionLevel: Shape<PermissionLevel> = oneOf(...levels)

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

/** The tools of each level, by category. A file must have all three lists of each category (G51). */
const categories = map(object<Record<PermissionLevel, string[]>>({ always_allow: array(string), ask_before: array(string), never_allow: array(string) }))

/** The permission levels of tools, as set by a person or by the engine (GA 17.2). */
export class Permissions {
  readonly #categories: ReadBy<typeof categories>

  /** Reads permission.yaml. Throws an UnreadablePermissionsError. */
  constructor(settings: Settings) {
    this.#categories = readCategories(settings)
  }

  of(category: 'user' | 'smart_approve', tool: string): PermissionLevel | null {
    const lists = this.#categories[category]
    return levels.find((level) => lists?.[level].includes(tool)) ?? null
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

/**
 * Sets the levels of tools in the category `user`, in one write (GA 10.12, G51). A tool leaves the lists in which it is, and comes last
 * in its new one; of two changes of a tool, the second counts. Throws if the file cannot be read or written.
 */
export function setPermissions(settings: Settings, changes: readonly contract.ToolPermission[]): void {
  const before = readCategories(settings)
  if (changes.length === 0) return
  const changed = new Map<string, PermissionLevel>()
  for (const { tool_name: tool, permission } of changes) {
    changed.delete(tool)
    changed.set(tool, permission)
  }
  const lists = levels.map((level): [string, string[]] => {
    const kept = (before.user?.[level] ?? []).filter((tool) => !changed.has(tool))
    return [level, [...kept, ...[...changed.keys()].filter((tool) => changed.get(tool) === level)]]
  })
  settings.permissions.replace(withMember(before, 'user', objectOf(lists)))
}

/** A file with other content counts as empty; a file that cannot be read is an error (G13, G51). */
function readCategories(settings: Settings): ReadBy<typeof categories> {
  try {
    return readShape(categories, settings.permissions.readIfAny())
  } catch (error) {
    if (error instanceof NotAMappingError || error instanceof ShapeError) return {}
    throw new UnreadablePermissionsError('Permissions cannot be read', { cause: error })
  }
}
