// Tries what a page can try with the client tools of a server. Returns what came of each attempt.
async (server) => {
  const url = (path) => server + path
  const limit = AbortSignal.timeout(15_000)
  const definition = { id: 'spy', description: 'Spies', parameters: { type: 'object' } }
  const request = (method, path, body, options) => fetch(url(path), {
    method, signal: limit, ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }), ...options,
  })
  // Requests that need no preflight. The page cannot read the answers, but the server might act on the requests.
  const unseen = (path, body) => request('POST', path, body, { mode: 'no-cors', headers: { 'Content-Type': 'text/plain' } })
  const whole = async (response) => `${response.status} ${await response.text()}`
  const firstChunk = async (response) => {
    const reader = response.body.getReader()
    const { value } = await reader.read()
    await reader.cancel()
    return `${response.status} ${new TextDecoder().decode(value)}`
  }
  const head = async (response) => {
    if (!response.ok) return whole(response)
    await response.body.cancel()
    return String(response.status)
  }
  const until = (target, types, result) => new Promise((resolve, reject) => {
    for (const type of types) target.addEventListener(type, (event) => resolve(result(event)))
    limit.addEventListener('abort', () => reject(limit.reason))
  })
  const attempts = {
    list: async () => whole(await request('GET', '/client-tools/tools')),
    register: async () => whole(await request('POST', '/client-tools/register', { clientID: 'page', tools: [definition] })),
    'register, unseen': async () => (await unseen('/client-tools/register', { clientID: 'unseen', tools: [definition] })).type,
    execute: async () => whole(await request('POST', '/client-tools/execute', { toolID: 'client_owner_echo', input: { from: 'page' } })),
    'execute, unseen': async () => (await unseen('/client-tools/execute', { toolID: 'client_owner_echo', input: { from: 'unseen' } })).type,
    pending: async () => head(await request('GET', '/client-tools/pending/stream')),
    'event, by fetch': async () => firstChunk(await request('GET', '/event')),
    'event, by EventSource': async () => {
      const source = new EventSource(url('/event'))
      const result = await until(source, ['message', 'error'], (event) => event.data ?? event.type)
      source.close()
      return result
    },
    websocket: async () => {
      const socket = new WebSocket(new URL(url('/client-tools/ws/socket'), location.href).href.replace(/^http/, 'ws'))
      const result = await until(socket, ['open', 'close'], (event) => event.type)
      socket.close()
      return result
    },
    unregister: async () => whole(await request('DELETE', '/client-tools/unregister', { clientID: 'owner' })),
    // The end of a client's stream removes its tools.
    'pending, unseen': async () => {
      const stream = new AbortController()
      const response = await request('GET', '/client-tools/pending/owner', undefined, { mode: 'no-cors', signal: AbortSignal.any([limit, stream.signal]) })
      stream.abort()
      return response.type
    },
  }
  const results = {}
  for (const [name, attempt] of Object.entries(attempts)) {
    results[name] = await attempt().catch((error) => error.name)
  }
  return results
}
