import type { PlatformExtension as PlatformConfig } from '#contract'
import type { Logger } from '../../log.ts'
import type { SessionHandle } from '../../store/session-handle.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { normalisedKey } from '../../domain/extension/config.ts'
import { ExtensionError, type Connection } from '../client/connection.ts'
import { chatRecall } from './chat-recall.ts'
import { extensionManager } from './extension-manager.ts'
import type { ManagedExtensions } from './managed-extensions.ts'
import { PlatformConnection, type PlatformExtension } from './platform-connection.ts'
import { skills, type SkillDeps } from './skills.ts'
import { todo } from './todo.ts'

interface PlatformDeps extends SkillDeps {
  session: SessionHandle
  store: SessionStore
  /** The extensions of the agent. */
  extensions: ManagedExtensions
  logger: Logger
}

/** The extensions that are part of this server, by key (GA 6.7). */
const extensions = new Map<string, (deps: PlatformDeps) => PlatformExtension>([
  ['todo', ({ session, settings }) => todo(session, settings)],
  ['chatrecall', ({ session, store }) => chatRecall(session.id, store)],
  ['skills', ({ session, ...deps }) => skills(session, deps)],
  ['extensionmanager', extensionManager],
])

/** Throws an ExtensionError for an unknown name. */
export function connectPlatform({ name }: PlatformConfig, deps: PlatformDeps): Connection {
  const extension = extensions.get(normalisedKey(name))
  if (extension === undefined) throw new ExtensionError(`Unknown platform extension: ${name}`)
  return new PlatformConnection(extension(deps), deps.logger)
}
