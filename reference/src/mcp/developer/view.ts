import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { percent } from '../../httpapi/url-path.ts'
import { failedCall, invalidCall } from './call-error.ts'
import { fenced, forModel, forUser, languageOf, linesOf, text } from './content.ts'
import { notThere, readText, statusOf } from './text-file.ts'
import { compareBytes } from '../../text/compare-bytes.ts'

const maxBytes = 400 * 1024
const maxLines = 2000
const maxEntries = 50

/** Shows a file, or the entries of a directory (X18). `named` is the model's name for the path. */
export async function view(path: string, named: string, range: readonly [number, number] | undefined): Promise<CallToolResult> {
  const status = await statusOf(path)
  if (status?.isDirectory() === true) return { content: [text(await directoryText(path, named))] }
  if (status !== undefined && status.isFile() && status.size > maxBytes) {
    const size = (status.size / 1024).toFixed(2)
    throw failedCall(`File '${named}' is too large (${size}KB). Maximum size is 400KB to prevent memory issues.`)
  }
  const whole = await readText(path, named)
  const { heading, lines, first } = shown(named, whole === '' ? [''] : linesOf(whole), range)
  const numbered = lines.map((line, i) => `${first + i}: ${line}\n`).join('')
  return {
    content: [
      { type: 'resource', resource: { uri: fileUri(path), mimeType: 'text', text: whole }, annotations: forModel },
      text(`${heading}\n${fenced(numbered, languageOf(path))}`, forUser(0)),
    ],
  }
}

interface Shown {
  heading: string
  lines: string[]
  /** The number of the first line. */
  first: number
}

function shown(named: string, lines: string[], range: readonly [number, number] | undefined): Shown {
  const total = lines.length
  if (range === undefined) {
    if (total > maxLines) {
      throw failedCall(
        `File '${named}' is ${total} lines long, more than the ${maxLines} that are shown at once. Use view_range, for example [1, ${total}].`,
      )
    }
    return { heading: `### ${named}`, lines, first: 1 }
  }
  const [start, end] = range
  if (start > total) throw invalidCall(`Start line ${start} is beyond the end of the file (total lines: ${total})`)
  if (end !== -1 && start >= end) throw invalidCall(`Start line ${start} must be less than end line ${end}`)
  const first = Math.max(start, 1)
  const last = end === -1 ? total : Math.min(end, total)
  return { heading: `### ${named} (lines ${first}-${last})`, lines: lines.slice(first - 1, last), first }
}

/** A file URI. All characters except unreserved ones and slashes are escaped, even those that URLs may contain. */
function fileUri(path: string): string {
  const escaped = encodeURIComponent(path.replace(/\p{Surrogate}/gu, '\ufffd')).replaceAll('%2F', '/')
  return `file://${escaped.replace(/[!'()*]/g, (character) => percent(character.charCodeAt(0)))}`
}

async function directoryText(path: string, named: string): Promise<string> {
  const names = await readdir(path).catch((cause: unknown) => {
    throw Object.assign(notThere(named), { cause })
  })
  names.sort(compareBytes)
  const entries = await Promise.all(
    names.slice(0, maxEntries).map(async (name) => ({ name, isDirectory: (await statusOf(join(path, name)))?.isDirectory() ?? false })),
  )
  const listed = (heading: string, lines: readonly string[]): string => (lines.length === 0 ? '' : `${heading}:\n${lines.map((line) => `  ${line}\n`).join('')}`)
  const directories = listed('Directories', entries.filter((entry) => entry.isDirectory).map(({ name }) => `${name}/`))
  const files = listed('Files', entries.filter((entry) => !entry.isDirectory).map(({ name }) => name))
  const more = names.length - entries.length
  return [
    `'${named}' is a directory. Contents:\n\n`,
    names.length === 0 ? '  (empty directory)\n' : '',
    directories === '' ? '' : `${directories}\n`,
    files,
    more > 0 ? `\n... and ${more} more items (showing first ${maxEntries} items)\n` : '',
  ].join('')
}
