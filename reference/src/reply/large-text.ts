import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import type { Result } from '../message/result.ts'
import type { ToolContent } from '../message/tool-content.ts'

const maxCharacters = 200_000

/** The result with texts that are too large for a model put into files (GA 7.8, M33). */
export async function withoutLargeTexts(result: Result<ToolContent[]>): Promise<Result<ToolContent[]>> {
  if (result.status === 'error') return result
  return { status: 'success', value: await Promise.all(result.value.map(shortened)) }
}

async function shortened(part: ToolContent): Promise<ToolContent> {
  if (part.type !== 'text' || !isLarge(part.text)) return part
  const directory = join(tmpdir(), 'goose_mcp_responses')
  const path = join(directory, `mcp_response_${new Date().toISOString().replace(/\W/g, '')}_${randomUUID().slice(0, 8)}.txt`)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(path, part.text, { mode: 0o600 })
  return { ...part, text: `The text of this tool was larger than ${maxCharacters} characters. It is in the file ${path}.` }
}

function isLarge(text: string): boolean {
  // A character has one or two units of UTF-16, so most texts need not be counted.
  if (text.length <= maxCharacters) return false
  return text.length > 2 * maxCharacters || Array.from(text).length > maxCharacters
}
