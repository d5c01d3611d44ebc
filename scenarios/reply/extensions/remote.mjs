// Two MCP servers. The one over standard input and output has the tool address, which returns the address of the other one.
// That one speaks HTTP: streamable HTTP at /mcp, server-sent events at /sse. Its tool heard returns the requests that it got.
// At /mcp it first sends messages on a separate stream, breaks this stream once, and answers the call after the client has
// answered a ping there.
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'

function result({ method }, version, tool, text) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: 'remote', version: '1' } }
    case 'tools/list':
      return { tools: [{ name: tool, inputSchema: { type: 'object' } }] }
    case 'tools/call':
      return { content: [{ type: 'text', text }] }
    default:
      return {}
  }
}

const marks = ['mcp-session-id', 'mcp-protocol-version', 'last-event-id', 'x-more']
const heard = []
let waiting = () => {} // for the next stream, or for the answer to the ping
const next = () => new Promise((resolve) => (waiting = resolve))
let stream = next()

function hear({ method, url, headers }) {
  const told = marks.filter((name) => name in headers && url === '/mcp') // the older protocol at /sse does not have these
  heard.push([method, url, ...told.map((name) => headers[name])].join(' '))
}

async function speak() {
  const say = (data, before = '') => `${before}data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${data}"}}\n\n`
  const first = await stream
  stream = next()
  first.end(say('not a message', 'event: other\n') + say('one', 'id: e1\nretry: 20\n'))
  const second = await stream
  const answered = next()
  second.write(say('two', 'event: message\n') + say('not a field', '\uFEFF') + 'data: {"jsonrpc":"2.0","id":"ping","method":"ping"}\n\n')
  await answered
}

async function serve(request, response) {
  const at = `${request.method} ${request.url}`
  if (at === 'GET /sse' || at === 'GET /mcp') {
    hear(request)
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(at === 'GET /sse' ? 'event: endpoint\ndata: /messages\n\n' : '\uFEFF: begins\n\n')
    waiting(response)
    return
  }
  if (at !== 'POST /mcp' && at !== 'POST /messages') return response.writeHead(200).end()
  let body = ''
  for await (const chunk of request) body += chunk
  const message = JSON.parse(body)
  if (message.id === 'ping') waiting()
  if (message.id === undefined || message.method === undefined) return response.writeHead(202).end()
  if (at === 'POST /mcp' && message.method === 'tools/call') await speak()
  if (message.method === 'tools/call') hear(request)
  const version = at === 'POST /mcp' ? '2025-06-18' : '2024-11-05'
  const answer = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: result(message, version, 'heard', heard.join('\n')) })
  if (at === 'POST /mcp') return response.writeHead(200, { 'Content-Type': 'application/json', 'Mcp-Session-Id': 'session-1' }).end(answer)
  response.writeHead(202).end()
  const events = await stream
  events.write(`event: message\ndata: ${answer}\n\n`)
}

const server = createServer((request, response) => void serve(request, response))
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = `http://127.0.0.1:${server.address().port}`
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.id === undefined) continue
  console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: result(message, '2025-06-18', 'address', address) }))
}
process.exit()
