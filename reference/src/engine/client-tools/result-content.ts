import { isUtf8 } from 'node:buffer'
import type { Result } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import { isObject } from '../../wire/json/is-object.ts'
import { documentInSlices } from '../../wire/json/document.ts'
import { JsonSyntaxError } from '../../wire/json/parse.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { wellFormed, wellFormedJson } from '../../wire/json/well-formed.ts'
import type { ClientToolOutcome } from './client-tools.ts'

/**
 * The outcome of a client tool as the result of a model's call (CT 11.6 items 6 and 7). The conversation is stored as strict JSON, so
 * it has no unpaired surrogates.
 */
export async function clientToolResult(outcome: ClientToolOutcome): Promise<Result<ToolContent[]>> {
  if (outcome.status !== 'success') return { status: 'error', error: wellFormed(outcome.error) }
  const { title, output, metadata = {} } = outcome.result
  const clientTool = { title: wellFormed(title), metadata: await kept(metadata) }
  const text: ToolContent = { type: 'text', text: wellFormed(output), _meta: { clientTool } }
  const attachments: unknown[] = Array.isArray(outcome.attachments) ? outcome.attachments : []
  return { status: 'success', value: [text, ...attachments.flatMap((one, index) => attachmentContent(one, index) ?? [])] }
}

/** The same limit as for messages of MCP servers (X12). */
const maxLevels = 1000

/** Metadata as it is stored. Metadata that is nested too deeply counts as none. */
async function kept(metadata: JsonObject): Promise<JsonObject> {
  try {
    return (await documentInSlices(wellFormedJson(stringifyJson(metadata)), { maxLevels })).value as JsonObject // an object stays one
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    return {}
  }
}

/** An attachment as content; undefined for anything that is none. `index` counts all attachments of the result (S75). */
function attachmentContent(attachment: unknown, index: number): ToolContent | undefined {
  if (!isObject(attachment) || typeof attachment.mime !== 'string' || typeof attachment.url !== 'string') return undefined
  const [mimeType, url] = [wellFormed(attachment.mime), attachment.url]
  if (!/^data:/i.test(url)) return /^[a-z][a-z0-9+.-]*:/i.test(url) ? { type: 'text', text: wellFormed(url) } : undefined
  const comma = url.indexOf(',')
  if (comma === -1 || !/;base64$/i.test(url.slice(0, comma))) return undefined
  const data = url.slice(comma + 1)
  if (!isBase64(data)) return undefined
  const type = mimeType.replace(/;.*/s, '').trim().toLowerCase()
  if (type.startsWith('image/')) return { type: 'image', data, mimeType }
  const uri = `attachment://${index}`
  const bytes = isText(type) ? Buffer.from(data, 'base64') : undefined
  const content = bytes !== undefined && isUtf8(bytes) ? { text: bytes.toString() } : { blob: data }
  return { type: 'resource', resource: { uri, mimeType, ...content } }
}

function isText(type: string): boolean {
  return type.startsWith('text/') || type === 'application/json' || type.endsWith('+json')
}

/** RFC 4648 §4, with the padding. One expression for all of it would need a stack for large texts. */
function isBase64(data: string): boolean {
  const digits = data.replace(/={1,2}$/, '')
  return data.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(digits)
}
