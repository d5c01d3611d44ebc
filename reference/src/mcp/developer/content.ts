import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

type Item = CallToolResult['content'][number]

/** For the model alone. */
export const forModel = { audience: ['assistant' as const] }

/** For people alone; the priority says how much of it they should see. */
export function forUser(priority: number): NonNullable<Item['annotations']> {
  return { audience: ['user'], priority }
}

export function text(value: string, annotations?: Item['annotations']): Item {
  return { type: 'text', text: value, ...(annotations && { annotations }) }
}

/** Two texts: one for the model, one for people. */
export function texts(model: string, user: string, priority: number): CallToolResult {
  return { content: [text(model, forModel), text(user, forUser(priority))] }
}

const languages: Readonly<Record<string, string>> = {
  rs: 'rust', py: 'python', js: 'javascript', ts: 'typescript', go: 'go', java: 'java', rb: 'ruby', kt: 'kotlin', swift: 'swift', sh: 'bash',
  json: 'json', yaml: 'yaml', yml: 'yaml', toml: 'toml', md: 'markdown', html: 'html', css: 'css', c: 'c', cpp: 'cpp', sql: 'sql',
}

/** The name of a file's language for a code fence; empty for other files (X18). */
export function languageOf(path: string): string {
  const ending = /\.([^./]+)$/.exec(path)?.[1] ?? ''
  return Object.hasOwn(languages, ending) ? (languages[ending] ?? '') : ''
}

/** A text between backticks that it has not itself. */
export function fenced(value: string, language: string): string {
  const longest = Math.max(2, ...Array.from(value.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${value.endsWith('\n') ? value : `${value}\n`}${fence}\n`
}

/** The lines of a text, which end with LF or CR LF; a last line end begins no line (X18). */
export function linesOf(value: string): string[] {
  const lines = value.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
