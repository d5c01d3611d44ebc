const prefix = 'client_'

/** The full ID of a tool: prefix, client and short name, without escaping (CT 2.6). */
export function fullToolID(clientID: string, name: string): string {
  return `${prefix}${clientID}_${name}`
}

/**
 * The short name of a tool in an unregister request (CT 4.2). An entry that begins with the prefix is a full ID; any other entry
 * is a short name. So a tool whose short name begins with the prefix must be named by its full ID. Undefined for a tool of
 * another client.
 */
export function shortName(prefixOfClient: string, entry: string): string | undefined {
  if (!entry.startsWith(prefix)) return entry
  return entry.startsWith(prefixOfClient) ? entry.slice(prefixOfClient.length) : undefined
}
