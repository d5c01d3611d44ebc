import type { Context, Handler } from 'hono'
import type * as contract from '#contract'
import type { Bus } from '../events/bus.ts'
import { directoryOf } from '../events/directory.ts'
import { isJsonType, readBody } from '../http/body.ts'
import { MalformedBodyError } from '../http/errors.ts'
import { json, jsonPieces } from '../http/respond.ts'
import { parseJsonBody } from '../json/body-text.ts'
import { isObject } from '../json/is-object.ts'
import { TooManyValuesError } from '../json/parse.ts'
import { unknownRequest } from './error-response.ts'
import type { Executions } from './executions.ts'
import { tooManyTools } from './registry.ts'
import type { Registry } from './registry.ts'
import { registerRequest, submitResultRequest, unregisterRequest } from './requests.ts'
import { validate } from './schema.ts'

export interface HandlerParts {
  bus: Bus
  registry: Registry
  executions: Executions
  defaultDirectory: string
  maxBody: number
  /** The most tools of a client. */
  maxTools: number
}

/** `POST /client-tools/register` (CT 4.1). The event is published even for no tools. */
export function register({ bus, registry, maxTools, ...gate }: HandlerParts): Handler {
  return async (c) => {
    const { directory, body } = await openGate(c, gate, 'tools').catch((error: unknown) => {
      throw hasTooManyTools(error, maxTools) ? tooManyTools() : error
    })
    if (isObject(body) && Array.isArray(body.tools) && body.tools.length > maxTools) throw tooManyTools()
    const { clientID, tools } = validate(registerRequest, body)
    const registered = registry.register(clientID, tools)
    const properties = { clientID, toolIDs: registered }
    bus.publish(directory, { type: 'client-tool.registered', properties })
    return json(200, { registered } satisfies contract.RegisterResult)
  }
}

/** Whether a body has too many values, and too many tools as well (S39, S51). */
function hasTooManyTools(error: unknown, maxTools: number): boolean {
  const cause = error instanceof MalformedBodyError ? error.cause : undefined
  return cause instanceof TooManyValuesError && (cause.elements ?? 0) > maxTools
}

/** `DELETE /client-tools/unregister` (CT 4.2). The event is published only if something was removed. */
export function unregister({ bus, registry, ...gate }: HandlerParts): Handler {
  return async (c) => {
    const { directory, body } = await openGate(c, gate)
    const { clientID, toolIDs } = validate(unregisterRequest, body)
    const unregistered =
      toolIDs === undefined ? registry.unregisterAll(clientID) : registry.unregister(clientID, toolIDs)
    if (unregistered.length > 0) {
      const properties = { clientID, toolIDs: unregistered }
      bus.publish(directory, { type: 'client-tool.unregistered', properties })
    }
    return json(200, { success: true, unregistered } satisfies contract.UnregisterResult)
  }
}

/** `POST /client-tools/result` (CT 4.3). */
export function submitResult({ executions, ...gate }: HandlerParts): Handler {
  return async (c) => {
    const { directory, body } = await openGate(c, gate)
    const { requestID, result } = validate(submitResultRequest, body)
    if (!executions.settle(requestID, result, directory)) return unknownRequest()
    return json(200, { success: true } satisfies contract.SubmitResultResult)
  }
}

/** `GET /client-tools/tools/{clientID}` (CT 4.5). */
export function listTools({ registry, defaultDirectory }: HandlerParts): Handler<object, '/:clientID'> {
  return (c) => {
    directoryOf(c.req.raw, defaultDirectory) // refuses two of them; the tools are those of all directories
    return jsonPieces(200, registry.list(c.req.param('clientID')))
  }
}

/** `GET /client-tools/tools` (CT 4.6). */
export function listAllTools({ registry, defaultDirectory }: HandlerParts): Handler {
  return (c) => {
    directoryOf(c.req.raw, defaultDirectory)
    return jsonPieces(200, registry.listAll())
  }
}

/**
 * The gate that the bodies of register, unregister and result pass (CT 3.4, S1, S6): directory, size, content type,
 * syntax, in this order. A body of another content type is not looked at and counts as an empty object.
 */
async function openGate(
  c: Context,
  { defaultDirectory, maxBody }: Pick<HandlerParts, 'defaultDirectory' | 'maxBody'>,
  counted?: string,
): Promise<{ directory: string; body: unknown }> {
  const directory = directoryOf(c.req.raw, defaultDirectory)
  const bytes = await readBody(c.req.raw, maxBody)
  if (!isJsonType(c.req.raw.headers.get('Content-Type'))) return { directory, body: {} }
  return { directory, body: await parseBody(bytes, counted) }
}

/** The JSON of a body. Throws a MalformedBodyError, whose cause may tell of the `counted` member. */
export async function parseBody(bytes: Uint8Array, counted?: string): Promise<unknown> {
  try {
    return await parseJsonBody(bytes, counted)
  } catch (cause) {
    throw new MalformedBodyError('the body is not JSON', { cause })
  }
}
