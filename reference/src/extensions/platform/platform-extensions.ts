import type { Logger } from '../../log.ts'
import type { OwnSession } from '../../store/own-session.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { normalisedKey } from '../config.ts'
import type { PlatformExtension as PlatformConfig } from '../config.ts'
import { ExtensionError } from '../connection.ts'
import type { Connection } from '../connection.ts'
import { chatRecall } from './chat-recall.ts'
import { extensionManager } from './extension-manager.ts'
import type { ManagedExtensions } from './extension-manager.ts'
import { PlatformConnection } from './platform-connection.ts'
import type { PlatformExtension } from './platform-connection.ts'
import { skills } from './skills.ts'
import type { SkillParts } from './skills.ts'
import { todo } from './todo.ts'

export interface PlatformParts extends SkillParts {
  session: OwnSession
  store: SessionStore
  /** Those of the agent. */
  extensions: ManagedExtensions
  logger: Logger
}

/** The extensions that are a part of this server, by their keys (GA 6.7). */
const extensions = new Map<string, (parts: PlatformParts) => PlatformExtension>([
  ['todo', ({ session, settings }) => todo(session, settings)],
  ['chatrecall', ({ session, store }) => chatRecall(session.id, store)],
  ['skills', ({ session, ...parts }) => skills(session, parts)],
  ['extensionmanager', extensionManager],
])

/** Throws an ExtensionError for a name that is not known. */
export function connectPlatform({ name }: PlatformConfig, parts: PlatformParts): Connection {
  const extension = extensions.get(normalisedKey(name))
  if (extension === undefined) throw new ExtensionError(`Unknown platform extension: ${name}`)
  return new PlatformConnection(extension(parts), parts.logger)
}
