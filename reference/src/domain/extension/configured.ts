import type { ExtensionEntry, PlatformExtension } from '#contract'
import { isObject } from '../../wire/json/is-object.ts'
import { objectOf, withMember } from '../../wire/json/ordered.ts'
import { boolean, object, readShape } from '../../wire/json/shape.ts'
import type { Logger } from '../../log.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Mapping } from '../../settings/yaml-file.ts'
import { extensionConfig, extensionKey, type ExtensionConfig } from './config.ts'

/** An extension in the settings. */
interface ConfiguredExtension {
  enabled: boolean
  config: ExtensionConfig
}

function platform(name: string, description: string): PlatformExtension {
  return { type: 'platform', name, description, bundled: true, available_tools: [] }
}

/** The platform extensions, by their keys in the settings (G25). */
const platformExtensions: Record<string, PlatformExtension> = {
  todo: platform('todo', 'Keeps a todo list.'),
  chatrecall: platform('chatrecall', 'Finds what was said in other sessions.'),
  extensionmanager: platform('Extension Manager', 'Finds, enables and disables extensions.'),
  skills: platform('skills', 'Loads skills.'),
}

const entryShape = object<{ enabled: boolean }>({ enabled: boolean })

/**
 * The extensions in the settings, in the order of the file. Malformed entries are skipped. If the settings have any entry,
 * platform extensions without an entry are enabled (GA 10.9).
 */
export function configuredExtensions(settings: Settings): ConfiguredExtension[] {
  return readableIn(withPlatform(settings.get('extensions')))
}

/** Stores an extension in the settings. Returns whether an extension of this name was there before (G49). */
export function storeExtension(settings: Settings, name: string, { enabled, config }: ConfiguredExtension, logger: Logger): boolean {
  let isKnown = false
  changeEntries(settings, logger, (entries) => {
    isKnown = readableIn(entries).some((before) => extensionKey(before.config.name) === extensionKey(name))
    return withMember(entries, extensionKey(config.name), entryOf({ enabled, config }))
  })
  return isKnown
}

/** Removes the extension with the key of this name from the settings, if there is one (G50). */
export function unstoreExtension(settings: Settings, name: string, logger: Logger): void {
  changeEntries(settings, logger, (entries) => objectOf(Object.entries(entries).filter(([key]) => key !== extensionKey(name))))
}

export function entryOf({ enabled, config }: ConfiguredExtension): ExtensionEntry {
  return { enabled, ...config }
}

/** Changes the entries in the file. The environment does not matter. A failure is only logged. */
function changeEntries(settings: Settings, logger: Logger, change: (entries: Mapping) => Mapping): void {
  try {
    settings.change((before) => withMember(before, 'extensions', change(withPlatform(before.extensions))))
  } catch (err) {
    logger.warn('extensions not stored', { err })
  }
}

/** The entries of a setting, and those that are added to them. A setting that is not a mapping has no entries (G48). */
function withPlatform(setting: unknown): Mapping {
  if (!isObject(setting) || Object.keys(setting).length === 0) return {}
  const added = Object.entries(platformExtensions).filter(([key]) => !Object.hasOwn(setting, key))
  return objectOf([...Object.entries(setting), ...added.map(([key, config]) => [key, entryOf({ enabled: true, config })] as const)])
}

function readableIn(entries: Mapping): ConfiguredExtension[] {
  return Object.values(entries).flatMap(read)
}

function read(entry: unknown): ConfiguredExtension[] {
  try {
    return [{ enabled: readShape(entryShape, entry).enabled, config: readShape(extensionConfig, entry) }]
  } catch {
    return []
  }
}
