import type { PlatformExtension } from '#contract'
import { isObject } from '../../wire/json/is-object.ts'
import { boolean, object, readShape } from '../../wire/json/shape.ts'
import type { Settings } from '../../settings/settings.ts'
import { extensionConfig, type ExtensionConfig } from './config.ts'

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
  const entries = settings.get('extensions')
  if (!isObject(entries) || Object.keys(entries).length === 0) return []
  const added = Object.entries(platformExtensions).filter(([key]) => !Object.hasOwn(entries, key))
  return [...Object.values(entries).flatMap(read), ...added.map(([, config]) => ({ enabled: true, config }))]
}

function read(entry: unknown): ConfiguredExtension[] {
  try {
    return [{ enabled: readShape(entryShape, entry).enabled, config: readShape(extensionConfig, entry) }]
  } catch {
    return []
  }
}
