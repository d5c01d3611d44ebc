import type { GetPromptResult, Prompt } from '@modelcontextprotocol/sdk/types.js'
import { invalidCall } from './call-error.ts'
import { fenced } from './content.ts'

/** The only prompt of this extension (X46). */
export const unitTest: Prompt = {
  name: 'unit_test',
  description: 'Writes unit tests for source code.',
  arguments: [
    { name: 'source_code', description: 'The code to test', required: true },
    { name: 'language', description: 'Its language', required: true },
  ],
}

/** Throws a RpcError for an unknown prompt, or a missing argument. */
export function promptOf(name: string, given: Readonly<Record<string, string>>): GetPromptResult {
  if (name !== unitTest.name) throw invalidCall('prompt not found')
  const [code, language] = [needed(given, 'source_code'), needed(given, 'language')]
  const order = `Write unit tests for the following ${language} code. Cover usual cases, edge cases and failures.`
  return {
    description: unitTest.description,
    messages: [{ role: 'user', content: { type: 'text', text: `${order}\n\n${fenced(code, language)}` } }],
  }
}

function needed(given: Readonly<Record<string, string>>, name: string): string {
  const value = given[name]
  if (value === undefined) throw invalidCall(`missing field \`${name}\``)
  return value
}
