import type * as contract from '#contract'
import type { Bus } from '../events/bus.ts'
import { directoryOf } from '../../httpapi/directory.ts'
import { isJsonType, readBody } from '../../httpapi/body.ts'
import { MalformedBodyError } from '../../httpapi/errors.ts'
import { Rendered, operation, type Operation, type Result } from '../../httpapi/operation.ts'
import { jsonPieces } from '../../httpapi/response.ts'
import { parseJsonBody } from '../../wire/json/body-text.ts'
import { isObject } from '../../wire/json/is-object.ts'
import { TooManyValuesError } from '../../wire/json/parse.ts'
import type { Executions } from './executions.ts'
import type { Leases } from './leases.ts'
import type { PermissionQuestions } from './permission-questions.ts'
import { tooManyTools, type Registry } from './registry.ts'
import { permissionAnswer, progressRequest, registerRequest, submitResultRequest, unregisterRequest, type Registration } from './requests.ts'
import { validate } from './schema.ts'

export interface ClientToolDeps {
  bus: Bus
  registry: Registry
  executions: Executions
  questions: PermissionQuestions
  leases: Leases
  defaultDirectory: string
  maxBody: number
  /** The most tools that one client may have. */
  maxTools: number
}

/** `POST /client-tools/register` (CT 4.1). The event is published even if the list of tools is empty. */
export function register(
  { bus, registry, leases, maxTools, ...limits }: ClientToolDeps,
): Operation<contract.RegisterClientToolsData, contract.RegisterClientToolsResponses> {
  return operation(async ({ request }) => {
    const { directory, body } = await readRequest(request, limits, 'tools').catch((error: unknown) => {
      throw hasTooManyTools(error, maxTools) ? tooManyTools() : error
    })
    if (isObject(body) && Array.isArray(body.tools) && body.tools.length > maxTools) throw tooManyTools()
    const registration = validate(registerRequest, body)
    return { status: 200, body: { registered: registerTools({ bus, registry, leases }, directory, registration) } }
  })
}

/** Registers tools, and publishes it. Returns their full IDs. Throws a RateLimitedError. */
export function registerTools(
  { bus, registry, leases }: Pick<ClientToolDeps, 'bus' | 'registry' | 'leases'>,
  directory: string,
  { clientID, tools, lease }: Registration,
): string[] {
  const toolIDs = registry.register(clientID, tools)
  leases.set(clientID, directory, lease)
  bus.publish(directory, { type: 'client-tool.registered', properties: { clientID, toolIDs } })
  return toolIDs
}

/** Whether a body has too many values, and its list has too many tools (S39, S51). */
function hasTooManyTools(error: unknown, maxTools: number): boolean {
  const cause = error instanceof MalformedBodyError ? error.cause : undefined
  return cause instanceof TooManyValuesError && (cause.elements ?? 0) > maxTools
}

/** `DELETE /client-tools/unregister` (CT 4.2). The event is published only if tools were removed. */
export function unregister(
  { bus, registry, leases, ...limits }: ClientToolDeps,
): Operation<contract.UnregisterClientToolsData, contract.UnregisterClientToolsResponses> {
  return operation(async ({ request }) => {
    const { directory, body } = await readRequest(request, limits)
    const { clientID, toolIDs } = validate(unregisterRequest, body)
    const unregistered = unregisterTools({ bus, registry, leases }, directory, clientID, toolIDs)
    return { status: 200, body: { success: true, unregistered } }
  })
}

/** Removes these tools of a client, or all. Returns the full IDs of those that it had; if there are any, publishes it. */
export function unregisterTools(
  { bus, registry, leases }: Pick<ClientToolDeps, 'bus' | 'registry' | 'leases'>,
  directory: string,
  clientID: string,
  entries?: readonly string[],
): string[] {
  const toolIDs = entries === undefined ? registry.unregisterAll(clientID) : registry.unregister(clientID, entries)
  if (registry.isEmpty(clientID)) leases.end(clientID)
  else leases.changed(clientID)
  if (toolIDs.length > 0) bus.publish(directory, { type: 'client-tool.unregistered', properties: { clientID, toolIDs } })
  return toolIDs
}

/** `POST /client-tools/result` (CT 4.3). */
export function submitResult({ executions, ...limits }: ClientToolDeps): Operation<contract.SubmitClientToolResultData, SubmitResponses> {
  return operation(async ({ request }): Promise<Result<SubmitResponses>> => {
    const { directory, body } = await readRequest(request, limits)
    const { requestID, result } = validate(submitResultRequest, body)
    if (!executions.settle(requestID, result, directory)) return { status: 404, body: { error: 'Unknown request ID' } }
    return { status: 200, body: { success: true } }
  })
}

type SubmitResponses = contract.SubmitClientToolResultResponses & contract.SubmitClientToolResultErrors

/** `POST /client-tools/progress` (CT 14.2). */
export function reportProgress(
  { executions, ...limits }: ClientToolDeps,
): Operation<contract.ReportClientToolProgressData, contract.ReportClientToolProgressResponses & contract.ReportClientToolProgressErrors> {
  return operation(async ({ request }) => {
    const { body } = await readRequest(request, limits)
    const { requestID, ...report } = validate(progressRequest, body)
    if (!executions.report(requestID, report)) return { status: 404, body: { error: 'Unknown request ID' } }
    return { status: 200, body: { success: true } }
  })
}

/** `POST /session/{sessionID}/permissions/{permissionID}` (CT 10.2, S67). */
export function answerPermission(
  { questions, ...limits }: ClientToolDeps,
): Operation<contract.AnswerPermissionData, contract.AnswerPermissionResponses> {
  return operation(async ({ request, path: { permissionID } }) => {
    const { body } = await readRequest(request, limits)
    questions.answer(permissionID, validate(permissionAnswer, body).response)
    return { status: 200, body: true }
  })
}

/** `GET /client-tools/tools/{clientID}` (CT 4.5). */
export function listTools(
  { registry, defaultDirectory }: ClientToolDeps,
): Operation<contract.ListClientToolsData, contract.ListClientToolsResponses> {
  return operation(({ request, path }) => {
    directoryOf(request, defaultDirectory) // rejects two directories; the tools are the same in all directories
    return new Rendered<contract.ClientToolList>(jsonPieces(200, registry.list(path.clientID)))
  })
}

/** `GET /client-tools/tools` (CT 4.6). */
export function listAllTools(
  { registry, defaultDirectory }: ClientToolDeps,
): Operation<contract.ListAllClientToolsData, contract.ListAllClientToolsResponses> {
  return operation(({ request }) => {
    directoryOf(request, defaultDirectory)
    return new Rendered<contract.ClientToolsById>(jsonPieces(200, registry.listAll()))
  })
}

/**
 * Checks a request to register, unregister or submit (CT 3.4, S1, S6): directory, size, content type and syntax, in this order. A
 * body of another content type is not parsed; it counts as an empty object.
 */
export async function readRequest(
  request: Request,
  { defaultDirectory, maxBody }: Pick<ClientToolDeps, 'defaultDirectory' | 'maxBody'>,
  counted?: string,
): Promise<{ directory: string; body: unknown; bytes: Uint8Array }> {
  const directory = directoryOf(request, defaultDirectory)
  const bytes = await readBody(request, maxBody)
  if (!isJsonType(request.headers.get('Content-Type'))) return { directory, body: {}, bytes }
  return { directory, body: await parseBody(bytes, counted), bytes }
}

/** Parses the JSON of a body. Throws a MalformedBodyError; its cause may contain the length of the member named `counted`. */
export async function parseBody(bytes: Uint8Array, counted?: string): Promise<unknown> {
  try {
    return await parseJsonBody(bytes, counted)
  } catch (cause) {
    throw new MalformedBodyError('the body is not JSON', { cause })
  }
}
