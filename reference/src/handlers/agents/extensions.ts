import type * as contract from '#contract'
import type { Agents } from '../../engine/agent/agents.ts'
import { withBody, type Operation } from '../../httpapi/operation.ts'
import { bodyOf, string } from '../../wire/json/shape.ts'
import type { Logger } from '../../log.ts'
import type { Settings } from '../../settings/settings.ts'
import { clientMessage } from '../../public-error.ts'
import type { AgentExtensions } from '../../mcp/agent-extensions.ts'
import { extensionConfig } from '../../domain/extension/config.ts'
import { ExtensionError, RefusedError } from '../../mcp/client/connection.ts'
import { configuredExtensions } from '../../domain/extension/configured.ts'
import { redactError } from '../../mcp/client/redact-error.ts'

interface ExtensionDeps {
  agents: Agents
}

const addRequest = bodyOf<contract.AddExtensionRequest>()({ session_id: string, config: extensionConfig })

/** `POST /agent/add_extension` (GA 6.7). Neither the settings nor the session change. */
export function addExtension(
  { agents }: ExtensionDeps,
): Operation<contract.AddExtensionData, contract.AddExtensionResponses, contract.AddExtensionErrors> {
  return withBody(addRequest, async ({ body: { session_id: id, config }, errors, request: { signal } }) => {
    const agent = agents.get(id)
    const release = agent.use()
    try {
      await agent.extensions.add(config, signal)
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof ExtensionError) throw errors.message(500, `Failed to add extension: ${cause.message}`, { cause })
      throw errors.message(500, `Failed to add extension: ${clientMessage(cause)}`, { cause, isLogged: true })
    } finally {
      release()
    }
    return { status: 200 }
  })
}

const removeRequest = bodyOf<contract.RemoveExtensionRequest>()({ name: string, session_id: string })

/** `POST /agent/remove_extension` (GA 6.8). */
export function removeExtension(
  { agents }: ExtensionDeps,
): Operation<contract.RemoveExtensionData, contract.RemoveExtensionResponses, contract.RemoveExtensionErrors> {
  return withBody(removeRequest, async ({ body: { name, session_id: id } }) => {
    await agents.get(id).extensions.remove(name)
    return { status: 200 }
  })
}

/**
 * Adds all enabled extensions of the settings, at the same time (GA 6.2). An extension that fails is left out. The signal ends the
 * wait for sign-ins.
 */
export async function addConfigured(
  extensions: AgentExtensions,
  { settings, logger }: { settings: Settings; logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  const enabled = configuredExtensions(settings).filter((extension) => extension.enabled)
  await Promise.all(
    enabled.map(async ({ config }) => {
      try {
        await extensions.add(config, signal)
      } catch (err) {
        logger.warn('extension not added', { extension: config.name, err: err instanceof RefusedError ? redactError(err) : err })
      }
    }),
  )
}
