import { jsonBytes } from '../wire/json/stringify.ts'
import type { Shape } from '../wire/json/shape.ts'
import { anyError, type ErrorsOf } from './goose-errors.ts'
import { readJsonBody, type BodyErrors } from './json-body.ts'
import { readQuery, type QueryErrors, type QueryNames } from './query.ts'
import { empty, json, jsonPieces } from './response.ts'
import type { Method, Route } from './router.ts'

/*
 * Typed handlers. For each operation of openapi.yaml, `make generate` makes three types: `…Data` is the request; `…Responses` and
 * `…Errors` are the bodies by status. A handler names them in its signature. If openapi.yaml changes what the handler reads,
 * returns or throws, the handler no longer compiles.
 */

/** The request of an operation: one of the generated `…Data` types. */
interface RequestData {
  url: string
  path?: unknown
  query?: unknown
  body?: unknown
}

/** The input of a handler: the request, its path parameters, its validated body or query, and the errors that it may throw. */
export interface Call<Data extends RequestData, Errors> {
  request: Request
  path: Data['path']
  errors: ErrorsOf<Errors>
}

/** A response that is already rendered. `Body` is the type of its body in the contract. */
export class Rendered<Body> {
  declare readonly body?: Body
  readonly response: Response

  constructor(response: Response) {
    this.response = response
  }
}

/** Renders a JSON body that may be large in pieces, so that other requests run in between. */
export async function renderLarge<Body>(body: Body): Promise<Rendered<Body>> {
  return new Rendered(jsonPieces(200, await jsonBytes(body)))
}

/** A status of the contract with its body. In the generated types, `unknown` means that a status has no body. */
type ResultOf<Status, Body> =
  | (unknown extends Body ? { status: Status } : { status: Status; body: Body; headers?: Record<string, string> })
  | Rendered<Body>

/** The result of a handler: one of the statuses of the generated `Responses`, with its body. */
export type Result<Responses> = { [Status in keyof Responses]: ResultOf<Status, Responses[Status]> }[keyof Responses]

/** A handler of an operation of the contract. */
export interface Operation<Data extends RequestData, Responses, Errors = object> {
  run: (request: Request, path: Data['path']) => Promise<Response>
  /** Never set. It makes the types of different operations different. */
  contract?: [Data, Responses, Errors]
}

/** An operation that reads its request itself, or that needs only the path. */
export function operation<Data extends RequestData, Responses, Errors = object>(
  handle: (call: Call<Data, Errors>) => Result<Responses> | Promise<Result<Responses>>,
): Operation<Data, Responses, Errors> {
  // Every result is an AnyResult, but the compiler cannot see this while `Responses` is a type parameter.
  return { run: async (request, path) => responseOf((await handle({ request, path, errors: anyError })) as AnyResult) }
}

/** An operation with query parameters. Rejects if they do not match the contract. */
export function withQuery<Data extends RequestData, Responses, Errors extends QueryErrors>(
  names: QueryNames<NonNullable<Data['query']>>,
  handle: (call: Call<Data, Errors> & { query: NonNullable<Data['query']> }) => Promise<Result<Responses>>,
): Operation<Data, Responses, Errors> {
  return operation<Data, Responses, Errors>((call) => handle({ ...call, query: readQuery<NonNullable<Data['query']>>(call.request.url, names) }))
}

/** An operation with a JSON body. Rejects if it does not match the contract. `Errors` must have all errors of a body. */
export function withBody<Data extends RequestData, Responses, Errors extends Record<keyof BodyErrors, unknown>, Body extends Data['body']>(
  shape: Shape<Body>,
  handle: (call: Call<Data, Errors> & { body: Body }) => Result<Responses> | Promise<Result<Responses>>,
  maxBytes?: number,
): Operation<Data, Responses, Errors> {
  return operation<Data, Responses, Errors>(async (call) => handle({ ...call, body: await readJsonBody(call.request, shape, maxBytes) }))
}

/** The route of an operation, at its path in the contract. */
export function route<Data extends RequestData>(method: Method, url: Data['url'], { run }: Operation<Data, unknown, unknown>): Route {
  const path = url.replace(/\{(\w+)\}/g, ':$1')
  return { method, path, handler: (c) => run(c.req.raw, c.req.param()) } // the router matches the parameters of the same path
}

type AnyResult = Rendered<unknown> | { status: number; body?: unknown; headers?: Record<string, string> }

function responseOf(result: AnyResult): Response {
  if (result instanceof Rendered) return result.response
  return result.body === undefined ? empty(result.status, result.headers) : json(result.status, result.body, result.headers)
}
