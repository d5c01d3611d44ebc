const prefix = 'client_'

/** The full ID of a tool: prefix, client and short name, without any escaping (CT 2.6). */
export function fullToolID(clientID: string, name: string): string {
  return `${prefix}${clientID}_${name}`
}

/**
 * The short name that an entry of an unregister request means (CT 4.2): a full ID if it looks like one, else a short name. A
 * tool whose short name begins with the prefix can therefore be named only in full. Undefined for a tool of another client.
 */
export function shortName(prefixOfClient: string, entry: string): string | undefined {
  if (!entry.startsWith(prefix)) return entry
  return entry.startsWith(prefixOfClient) ? entry.slice(prefixOfClient.length) : undefined
}
