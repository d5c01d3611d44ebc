import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

type Item = CallToolResult['content'][number]

/** Marks content for the model only. */
export const forModel = { audience: ['assistant' as const] }

/** Marks content for people only, with its priority. */
export function forUser(priority: number): NonNullable<Item['annotations']> {
  return { audience: ['user'], priority }
}

export function text(value: string, annotations?: Item['annotations']): Item {
  return { type: 'text', text: value, ...(annotations && { annotations }) }
}

/** A result with two texts: one for the model, one for people. */
export function texts(model: string, user: string, priority: number): CallToolResult {
  return { content: [text(model, forModel), text(user, forUser(priority))] }
}

const languages: Readonly<Record<string, string>> = {
  rs: 'rust', py: 'python', js: 'javascript', ts: 'typescript', go: 'go', java: 'java', rb: 'ruby', kt: 'kotlin', swift: 'swift', sh: 'bash',
  json: 'json', yaml: 'yaml', yml: 'yaml', toml: 'toml', md: 'markdown', html: 'html', css: 'css', c: 'c', cpp: 'cpp', sql: 'sql',
}

/** The language of a file for a code fence; empty for unknown files (X18). */
export function languageOf(path: string): string {
  const ending = /\.([^./]+)$/.exec(path)?.[1] ?? ''
  return Object.hasOwn(languages, ending) ? (languages[ending] ?? '') : ''
}

/** A text in a code fence with more backticks than the text has in a row. */
export function fenced(value: string, language: string): string {
  const longest = Math.max(2, ...Array.from(value.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${value.endsWith('\n') ? value : `${value}\n`}${fence}\n`
}

/** The lines of a text, which end with LF or CR LF. A line end at the end of the text does not begin another line (X18). */
export function linesOf(value: string): string[] {
  const lines = value.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
