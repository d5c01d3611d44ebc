/** One entry of the address of a bus: a transport with its parameters. */
export interface BusAddress {
  transport: string
  parameters: ReadonlyMap<string, string>
}

/** The entries of an address of the D-Bus specification. Entries that are not well-formed are left out. */
export function busAddresses(text: string): BusAddress[] {
  return text.split(';').flatMap((entry): BusAddress[] => {
    const [, transport, rest = ''] = /^([^:]+):(.*)$/s.exec(entry) ?? []
    const pairs = rest.split(',').filter((pair) => pair !== '').map(parameter)
    if (transport === undefined || !pairs.every((pair) => pair !== undefined)) return []
    return [{ transport, parameters: new Map(pairs) }]
  })
}

function parameter(text: string): [string, string] | undefined {
  const [, key, escaped] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  const value = escaped === undefined ? undefined : unescaped(escaped)
  return key === undefined || value === undefined ? undefined : [key, value]
}

/** A value with its `%XX` resolved; undefined if they are malformed. */
function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
