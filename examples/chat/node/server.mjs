import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { WebSocketServer } from 'ws'

const rooms = new Map() // the members of each room, in the order in which they came
const http = createServer((request, response) => response.writeHead(request.url === '/health' ? 204 : 426).end())
const sockets = new WebSocketServer({
  noServer: true,
  maxPayload: 1024,
  handleProtocols: (offered) => (offered.has('chat.v1') ? 'chat.v1' : false),
})

http.on('upgrade', (request, socket, head) => {
  const url = new URL(request.url, 'http://host')
  const room = url.pathname.replace('/rooms/', '')
  const user = url.searchParams.get('user')
  if (!user) {
    return socket.end(
      'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n' +
        'Content-Type: text/plain; charset=utf-8\r\nContent-Length: 8\r\n\r\nno user\n',
    )
  }
  sockets.handleUpgrade(request, socket, head, (client) => join(room, user, client))
})

function join(room, user, client) {
  const members = rooms.get(room) ?? new Set()
  const tell = (message) => members.forEach((member) => member.send(JSON.stringify(message)))
  rooms.set(room, members.add(client))
  tell({ type: 'joined', user })
  client.on('error', () => {}) // the library closes the connection
  client.on('close', () => {
    members.delete(client)
    tell({ type: 'left', user })
  })
  client.on('message', (data, isBinary) => {
    if (isBinary) return client.close(1003, 'text only')
    let message
    try {
      message = JSON.parse(data)
    } catch {
      return client.close(1007, 'not JSON')
    }
    if (message.type === 'say') return tell({ type: 'said', id: randomUUID(), user, text: message.text })
    if (message.type === 'quit') return client.close(1000, 'bye')
    client.send(JSON.stringify({ type: 'error', of: message.type ?? null }))
  })
}

http.listen(Number(process.env.PORT), '127.0.0.1')
