import type { Handler } from 'hono'
import type { Agents } from '../agent/agents.ts'
import { MessageError } from '../http/goose-errors.ts'
import { readJsonBody } from '../http/json-body.ts'
import { empty } from '../http/respond.ts'
import { object, string } from '../json/shape.ts'
import type { Logger } from '../log.ts'
import type { EngineParts } from '../reply/parts.ts'
import type { Settings } from '../settings/settings.ts'
import { told } from '../told-error.ts'
import type { AgentExtensions } from './agent-extensions.ts'
import { extensionConfig } from './config.ts'
import type { ExtensionConfig } from './config.ts'
import { ExtensionError, RefusedError } from './connection.ts'
import { configuredExtensions } from './configured.ts'
import { wordless } from './wordless.ts'

/** The parts of an agent that extensions can be added to. */
export interface AgentWithExtensions extends EngineParts {
  extensions: AgentExtensions
}

export interface ExtensionHandlerParts {
  agents: Agents<AgentWithExtensions>
}

const addRequest = object<{ session_id: string; config: ExtensionConfig }>({ session_id: string, config: extensionConfig })

/** `POST /agent/add_extension` (GA 6.7). Neither the settings nor the session change. */
export function addExtension({ agents }: ExtensionHandlerParts): Handler {
  return async (c) => {
    const { session_id: id, config } = await readJsonBody(c.req.raw, addRequest)
    const agent = agents.get(id)
    const release = agent.use()
    try {
      await agent.parts.extensions.add(config)
    } catch (cause) {
      const reason = cause instanceof ExtensionError ? cause.message : told(cause)
      throw new MessageError(500, `Failed to add extension: ${reason}`, { cause })
    } finally {
      release()
    }
    return empty(200)
  }
}

const removeRequest = object<{ name: string; session_id: string }>({ name: string, session_id: string })

/** `POST /agent/remove_extension` (GA 6.8). */
export function removeExtension({ agents }: ExtensionHandlerParts): Handler {
  return async (c) => {
    const { name, session_id: id } = await readJsonBody(c.req.raw, removeRequest)
    await agents.get(id).parts.extensions.remove(name)
    return empty(200)
  }
}

/** Adds all extensions that the settings enable, at the same time (GA 6.2). One that fails is left out. */
export async function addConfigured(extensions: AgentExtensions, settings: Settings, logger: Logger): Promise<void> {
  const enabled = configuredExtensions(settings).filter((extension) => extension.enabled)
  await Promise.all(
    enabled.map(async ({ config }) => {
      try {
        await extensions.add(config)
      } catch (err) {
        logger.warn('extension not added', { extension: config.name, err: err instanceof RefusedError ? wordless(err) : err })
      }
    }),
  )
}
