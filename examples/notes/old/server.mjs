// The server to replace. It needs only Node.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

const notes = new Map()
const followers = new Set()

const json = (response, status, value) => {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
}

createServer(async (request, response) => {
  const route = `${request.method} ${request.url}`
  if (route === 'GET /health') return response.writeHead(204).end()
  if (route === 'GET /feed') {
    followers.add(response)
    request.on('close', () => followers.delete(response))
    return response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
  }
  if (route === 'POST /notes') {
    let body = ''
    for await (const chunk of request) body += chunk
    const note = { id: randomUUID(), text: JSON.parse(body).text, created: new Date().toISOString() }
    notes.set(note.id, note)
    for (const follower of followers) follower.write(`event: added\ndata: ${JSON.stringify(note)}\n\n`)
    return json(response, 201, note)
  }
  const note = notes.get(request.url.slice('/notes/'.length))
  return note ? json(response, 200, note) : response.writeHead(404).end()
}).listen(Number(process.env.PORT), '127.0.0.1')
