// A client with a tool, for BenchmarkTurn. Each line of the input has a number of prompts, which it sends in a new session.
import { createInterface } from 'node:readline'

const [library, baseUrl] = process.argv.slice(2)
const { createClient } = await import(library)
const client = createClient({ baseUrl, secretKey: 'test', clientID: 'bench' })
const number = { type: 'number' }
await client.tools.register(
  'add',
  { description: 'Adds two numbers.', parameters: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] } },
  ({ a, b }) => ({ title: 'add', output: String(a + b) }),
)
for await (const line of createInterface({ input: process.stdin })) {
  const session = await client.startSession({ workingDir: '/' })
  await session.setModel('openai', 'gpt-4o')
  await fetch(`${baseUrl}/sessions/${session.session.id}/name`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json', 'X-Secret-Key': 'test' },
    body: '{"name":"Named"}',
  })
  for (let left = Number(line); left > 0; left--) await session.prompt('Add.')
  console.log('prompted')
}
