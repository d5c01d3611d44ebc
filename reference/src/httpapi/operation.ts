import { jsonBytes } from '../wire/json/stringify.ts'
import type { Shape } from '../wire/json/shape.ts'
import { readJsonBody } from './json-body.ts'
import { readQuery } from './query.ts'
import type { QueryNames } from './query.ts'
import { empty, json, jsonPieces } from './response.ts'
import type { Method, Route } from './router.ts'

/*
 * Handlers in the types of the contract. `make generate` makes three types for each operation of openapi.yaml: `…Data` is the
 * request, `…Responses` and `…Errors` are the bodies by status. A handler whose signature names them stops compiling when
 * openapi.yaml changes what it reads or answers.
 */

/** The request of an operation: one of the generated `…Data` types. */
interface RequestData {
  url: string
  path?: unknown
  query?: unknown
  body?: unknown
}

/** What a handler gets: the path parameters, and the body or the query once it is validated. */
export interface Call<Data extends RequestData> {
  request: Request
  path: Data['path']
}

/** A body that is rendered already. `Body` is its type in the contract. */
export class Rendered<Body> {
  declare readonly body?: Body
  readonly response: Response

  constructor(response: Response) {
    this.response = response
  }
}

/** A JSON body that may be large: it is rendered in pieces, while other requests are served. */
export async function renderLarge<Body>(body: Body): Promise<Rendered<Body>> {
  return new Rendered(jsonPieces(200, await jsonBytes(body)))
}

/** A status of the contract with its body; `unknown` is how the generated types say that a status has no body. */
type ResultOf<Status, Body> =
  | (unknown extends Body ? { status: Status } : { status: Status; body: Body; headers?: Record<string, string> })
  | Rendered<Body>

/** What a handler returns: one of the statuses of the generated `Responses`, with the body of that status. */
export type Result<Responses> = { [Status in keyof Responses]: ResultOf<Status, Responses[Status]> }[keyof Responses]

/** A handler of an operation of the contract. */
export interface Operation<Data extends RequestData, Responses> {
  run: (request: Request, path: Data['path']) => Promise<Response>
  /** Never set: it makes the types of different operations different. */
  contract?: [Data, Responses]
}

/** An operation that reads its request itself, or needs nothing but its path. */
export function operation<Data extends RequestData, Responses>(
  handle: (call: Call<Data>) => Result<Responses> | Promise<Result<Responses>>,
): Operation<Data, Responses> {
  // Every result has the form of AnyResult, which the compiler cannot see while `Responses` is unknown.
  return { run: async (request, path) => responseOf((await handle({ request, path })) as AnyResult) }
}

/** An operation with query parameters. Rejects with a TextError when they are not as the contract says. */
export function withQuery<Data extends RequestData, Responses>(
  names: QueryNames<NonNullable<Data['query']>>,
  handle: (call: Call<Data> & { query: NonNullable<Data['query']> }) => Promise<Result<Responses>>,
): Operation<Data, Responses> {
  return operation<Data, Responses>((call) => handle({ ...call, query: readQuery<NonNullable<Data['query']>>(call.request.url, names) }))
}

/** An operation with a JSON body. Rejects with a TextError when it is not as the contract says. */
export function withBody<Data extends RequestData, Responses, Body extends Data['body']>(
  shape: Shape<Body>,
  handle: (call: Call<Data> & { body: Body }) => Result<Responses> | Promise<Result<Responses>>,
  maxBytes?: number,
): Operation<Data, Responses> {
  return operation<Data, Responses>(async (call) => handle({ ...call, body: await readJsonBody(call.request, shape, maxBytes) }))
}

/** The route of an operation, at its path in the contract. */
export function route<Data extends RequestData>(method: Method, url: Data['url'], { run }: Operation<Data, unknown>): Route {
  const path = url.replace(/\{(\w+)\}/g, ':$1')
  return { method, path, handler: (c) => run(c.req.raw, c.req.param()) } // the parameters of its path
}

type AnyResult = Rendered<unknown> | { status: number; body?: unknown; headers?: Record<string, string> }

function responseOf(result: AnyResult): Response {
  if (result instanceof Rendered) return result.response
  return result.body === undefined ? empty(result.status, result.headers) : json(result.status, result.body, result.headers)
}
