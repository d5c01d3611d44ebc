import { expect, it } from 'vitest'
import { jsonLogger } from '../log.ts'
import { errorOfResponse, failureInside } from './failures.ts'

const body = Buffer.from('{"error":{"message":"no $& key sk-secret"}}')

it.each([
  ['Authentication error: Authentication failed. Status: 401 Unauthorized. Response: no $& key sk-secret', 'status 401', errorOfResponse(401, body)],
  ['Rate limit exceeded: no $& key sk-secret', 'status 429', errorOfResponse(429, body)],
  ['Request failed: no $& key sk-secret', 'an error in an answer', failureInside(body)?.error],
])('an error has the text of the model, which is not logged (G59): %s', (message, logged, error) => {
  expect(error?.message).toBe(message)
  const lines: string[] = []
  jsonLogger((line) => lines.push(line)).warn('x', { err: new Error('outer', { cause: error }) })
  expect(lines.join('')).toContain(logged)
  expect(lines.join('')).not.toContain('sk-secret')
})
