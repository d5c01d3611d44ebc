import type { ClientToolDefinition } from '#contract'
import { parseJson, parseText } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { wellFormedJson } from '../../wire/json/well-formed.ts'
import { fullToolID, shortName } from './tool-id.ts'

/** The limits on what clients may register (S39). */
export interface RegistryBounds {
  /** The most tools that one client may have. */
  maxTools: number
  maxClients: number
}

export const defaultBounds: RegistryBounds = { maxTools: 1000, maxClients: 10_000 }

/** The size that each definition counts in addition to its JSON. */
const definitionBytes = 256
/** The most bytes of definitions that one client may have, its ID included, and the most bytes for all clients. */
const maxClientBytes = 8 * 1024 * 1024
const maxBytes = 32 * 1024 * 1024

/** A request to register was rejected as a whole, because a limit would be exceeded (S39). */
export class RateLimitedError extends Error {
  override readonly name = 'RateLimitedError'
  declare readonly message: 'Too many tools' | 'Too many clients'
}

export function tooManyTools(): RateLimitedError {
  return new RateLimitedError('Too many tools')
}

/** A definition, stored as JSON to save memory. */
interface Tool {
  /** The definition as a member of a JSON object, by full ID, with a leading comma. */
  member: Buffer
  /** The offset of the definition in `member`. */
  at: number
}

/** A client and its tools, by short name. */
interface Client {
  /** The prefix of the full IDs of its tools. */
  prefix: string
  tools: Map<string, Tool>
  bytes: number
  /** Grows from client to client. */
  order: number
  /** The list of its tools, kept until they change, so that many slow readers share one copy. */
  listed?: readonly Uint8Array[] | undefined
}

/**
 * The tools of all clients, the same in every directory (CT 3.6). Lists are in the order of CT 2.4, which is the insertion order
 * of a Map: an overwritten entry keeps its position, and a removed entry that is added again goes to the end.
 */
export class Registry {
  readonly #bounds: RegistryBounds
  readonly #clients = new Map<string, Client>()
  #bytes = 0
  #count = 0
  /** The list of all tools, kept until they change. */
  #listed: readonly Uint8Array[] | undefined

  constructor(bounds: RegistryBounds = defaultBounds) {
    this.#bounds = bounds
  }

  /**
   * Adds or overwrites tools, which are given by short name. Returns their full IDs, one for each given tool. Throws a
   * RateLimitedError.
   */
  register(clientID: string, definitions: readonly ClientToolDefinition[]): string[] {
    const known = this.#clients.get(clientID)
    if (known === undefined && this.#clients.size >= this.#bounds.maxClients) throw new RateLimitedError('Too many clients')
    const client = known ?? { prefix: fullToolID(clientID, ''), tools: new Map<string, Tool>(), bytes: jsonOf(clientID).length, order: ++this.#count }
    const before = known?.bytes ?? 0
    const { added, bytes } = rendered(client, definitions)
    const count = new Set([...client.tools.keys(), ...added.keys()]).size
    if (count > this.#bounds.maxTools || bytes > maxClientBytes || this.#bytes - before + bytes > maxBytes) {
      throw tooManyTools()
    }
    this.#bytes += bytes - before
    client.bytes = bytes
    for (const [name, tool] of added) client.tools.set(name, tool)
    this.#clients.set(clientID, client)
    this.#changed(client)
    return definitions.map(({ id: name }) => client.prefix + name)
  }

  /** Removes tools, each given by short name or full ID. The client keeps its position even if it has no tool left. */
  unregister(clientID: string, entries: readonly string[]): string[] {
    const client = this.#clients.get(clientID)
    if (client === undefined) return []
    this.#changed(client)
    const { prefix, tools } = client
    return entries.map((entry) => shortName(prefix, entry)).filter((name): name is string => {
      const tool = name === undefined ? undefined : tools.get(name)
      if (name === undefined || tool === undefined) return false
      const bytes = sizeOf(tool)
      client.bytes -= bytes
      this.#bytes -= bytes
      return tools.delete(name)
    }).map((name) => prefix + name)
  }

  /** Removes all tools of a client, and the client's position. */
  unregisterAll(clientID: string): string[] {
    const client = this.#clients.get(clientID)
    if (client === undefined) return []
    this.#bytes -= client.bytes
    this.#clients.delete(clientID)
    this.#changed(client)
    return [...client.tools.keys()].map((name) => client.prefix + name)
  }

  /** The tools of one client, as pieces of a JSON array. */
  list(clientID: string): readonly Uint8Array[] {
    const client = this.#clients.get(clientID)
    if (client === undefined) return joined('[', [], ']')
    return (client.listed ??= joined('[', [...client.tools.values()].flatMap(({ member, at }) => [comma, member.subarray(at)]), ']'))
  }

  /**
   * The tools of all clients by full ID, as pieces of a JSON object. If two clients share an ID, it has the position of the first
   * client and the definition of the last (CT 2.6).
   */
  listAll(): readonly Uint8Array[] {
    if (this.#listed !== undefined) return this.#listed
    const all = new Map<string, Uint8Array>()
    for (const { prefix, tools } of this.#clients.values()) {
      for (const [name, { member }] of tools) all.set(prefix + name, member)
    }
    return (this.#listed = joined('{', [...all.values()], '}'))
  }

  /** The tools of one client, by short name. Their descriptions and parameters have no unpaired surrogates. */
  definitions(clientID: string): Map<string, ClientToolDefinition> {
    const { prefix = '', tools = [] } = this.#clients.get(clientID) ?? {}
    return new Map([...tools].map(([name, { member, at }]) => {
      const definition = parseText(wellFormedJson(member.toString('utf8', at))) as ClientToolDefinition // `rendered` has written it
      return [name, { ...definition, id: prefix + name }]
    }))
  }

  /** Whether a client has the tool with this full ID. */
  has(clientID: string, id: string): boolean {
    const client = this.#clients.get(clientID)
    return client !== undefined && id.startsWith(client.prefix) && client.tools.has(id.slice(client.prefix.length))
  }

  /** A number by which clients are in order; 0 for an unknown client. */
  orderOf(clientID: string): number {
    return this.#clients.get(clientID)?.order ?? 0
  }

  isEmpty(clientID: string): boolean {
    return (this.#clients.get(clientID)?.tools.size ?? 0) === 0
  }

  /** The client that executes a tool: the first one that has it (CT 2.6). */
  ownerOf(id: string): string | undefined {
    for (const [clientID, { prefix, tools }] of this.#clients) {
      if (id.startsWith(prefix) && tools.has(id.slice(prefix.length))) return clientID
    }
    return undefined
  }

  /** A tool of a client, by full ID. `key` is the same object until the tool is registered again. */
  definition(clientID: string, id: string): { key: object; parameters: () => Record<string, unknown> } | undefined {
    const client = this.#clients.get(clientID)
    const tool = client?.tools.get(id.slice(client.prefix.length))
    if (tool === undefined) return undefined
    const read = (): ClientToolDefinition => parseJson(tool.member.subarray(tool.at)) as ClientToolDefinition // it was written from one
    return { key: tool, parameters: () => read().parameters }
  }

  #changed(client: Client): void {
    client.listed = undefined
    this.#listed = undefined
  }
}

/** Definitions by short name in stored form, and the client's size with them. */
function rendered({ prefix, tools, bytes }: Client, definitions: readonly ClientToolDefinition[]): { added: Map<string, Tool>; bytes: number } {
  const added = new Map<string, Tool>()
  for (const { id: name, description, parameters } of definitions) {
    const id = prefix + name
    const key = jsonOf(id)
    const json = jsonOf({ id, description, parameters } satisfies ClientToolDefinition)
    const tool = { member: Buffer.concat([comma, key, colon, json]), at: key.length + 2 }
    const before = added.get(name) ?? tools.get(name)
    bytes += sizeOf(tool) - (before === undefined ? 0 : sizeOf(before))
    added.set(name, tool)
    // Each definition repeats the client's ID. Once above the limit, later definitions cannot reduce the total below it.
    if (bytes > 8 * maxClientBytes) throw tooManyTools()
  }
  return { added, bytes }
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(stringifyJson(value))
}

const [comma, colon] = [Buffer.from(','), Buffer.from(':')]

/** The size of a definition as the limits count it (S39). */
function sizeOf({ member, at }: Tool): number {
  return member.length - at + definitionBytes
}

/** JSON text in pieces, from members with a leading comma. Large members are not copied. */
function joined(open: string, [first, ...others]: readonly Uint8Array[], close: string): Uint8Array[] {
  return [Buffer.from(open), ...(first === undefined ? [] : [first.subarray(1)]), ...others, Buffer.from(close)]
}
