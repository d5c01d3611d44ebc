import type { ClientToolDefinition } from '#contract'
import { fullToolID, namedToolID } from './tool-id.ts'

/**
 * The tools of all clients, of every directory alike (CT 3.6). Everything is listed in the order of CT 2.4, which is the
 * insertion order of a Map: overwriting keeps a place, removing and adding again goes to the end.
 */
export class Registry {
  readonly #clients = new Map<string, Map<string, ClientToolDefinition>>()

  /** Adds or overwrites tools, which come with short names. Returns their full IDs, one for each tool given. */
  register(clientID: string, definitions: readonly ClientToolDefinition[]): string[] {
    let tools = this.#clients.get(clientID)
    if (tools === undefined) {
      tools = new Map<string, ClientToolDefinition>()
      this.#clients.set(clientID, tools)
    }
    const ids: string[] = []
    for (const { id: name, description, parameters } of definitions) {
      const id = fullToolID(clientID, name)
      tools.set(id, { id, description, parameters })
      ids.push(id)
    }
    return ids
  }

  /** Removes the tools that are named, by short name or full ID. The client keeps its place even if none is left. */
  unregister(clientID: string, entries: readonly string[]): string[] {
    const tools = this.#clients.get(clientID)
    if (tools === undefined) return []
    return entries.map((entry) => namedToolID(clientID, entry)).filter((id) => tools.delete(id))
  }

  /** Removes all tools of a client and forgets its place. */
  unregisterAll(clientID: string): string[] {
    const tools = this.#clients.get(clientID)
    this.#clients.delete(clientID)
    return [...(tools?.keys() ?? [])]
  }

  /** The tools of one client. */
  list(clientID: string): ClientToolDefinition[] {
    return [...(this.#clients.get(clientID)?.values() ?? [])]
  }

  /**
   * The tools of all clients by full ID. An ID that two clients share has the place of the first and the definition of
   * the last (CT 2.6).
   */
  listAll(): Map<string, ClientToolDefinition> {
    const all = new Map<string, ClientToolDefinition>()
    for (const tools of this.#clients.values()) {
      for (const [id, definition] of tools) all.set(id, definition)
    }
    return all
  }

  /** The client that executes a tool: the first that has it (CT 2.6). */
  ownerOf(id: string): string | undefined {
    for (const [clientID, tools] of this.#clients) if (tools.has(id)) return clientID
    return undefined
  }
}
