import { createInterface } from 'node:readline'
import OpenAI from 'openai'

const client = new OpenAI({ apiKey: 'sk-test', baseURL: process.env.API + '/v1', timeout: 5000 })

// What a scenario can ask for. `got` keeps what came before an error.
const actions = {
  async complete(request) {
    const { choices, usage } = await client.chat.completions.create(request)
    return { text: choices[0].message.content, finish: choices[0].finish_reason, tokens: usage?.total_tokens ?? 0 }
  },
  async stream(request, got) {
    Object.assign(got, { text: '', finish: '' })
    for await (const { choices } of await client.chat.completions.create({ ...request, stream: true })) {
      got.text += choices?.[0]?.delta.content ?? ''
      got.finish += choices?.[0]?.finish_reason ?? ''
    }
    return got
  },
}

// describe describes an error in the same words as the other driver.
function describe(error) {
  if (error.status) return { kind: 'status', status: error.status, code: error.code ?? '' }
  if (error instanceof OpenAI.APIConnectionTimeoutError) return { kind: 'timeout' }
  if (error instanceof OpenAI.APIConnectionError || error.message === 'terminated') return { kind: 'connection' }
  return { kind: 'unusable' }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, do: action, with: request } = JSON.parse(line)
  const got = {}
  let outcome
  try {
    outcome = { ok: await actions[action](request, got) }
  } catch (error) {
    console.error(error)
    outcome = { error: { ...describe(error), got: 'text' in got ? got : null } }
  }
  process.stdout.write(JSON.stringify({ id, ...outcome }) + '\n')
}
