import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { errorCode } from '../error-code.ts'
import { BrokenAnswerError, NoAnswerInTimeError, NoConnectionError, get, type HttpAnswer } from '../llm/http-call.ts'
import { member } from '../llm/model-protocol.ts'
import { bytesUpTo } from '../send-request.ts'
import type { Environment } from '../settings/paths.ts'
import { parseDocumentInSlices } from '../wire/json/document.ts'
import { JsonSyntaxError } from '../wire/json/parse.ts'
import { pricesIn } from './openrouter.ts'
import type { PriceList } from './price-list.ts'

/*
 * The request for the public list of prices (G67). It says nothing about the user.
 */

/** The most bytes of a list, without its coding. */
export const maxListBytes = 16 * 1024 * 1024
/** How long the response may take, up to its last byte. */
const limitSeconds = 30

/** The address of the list; undefined if nothing may be fetched. */
export function listAddress({ GOOSE_PRICING_URL: text }: Environment): URL | undefined {
  const address = text || 'https://openrouter.ai/api/v1/models'
  return addressForm.test(address) && URL.canParse(address) ? new URL(address) : undefined
}

/** WHATWG repairs most other texts: blanks, backslashes, `http:///host`. */
const addressForm = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?(?:[/?](?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*)?$/i

class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
}

/** A list, or why there is none. The reason quotes neither the address nor the response. */
export type Fetched = { list: PriceList } | { why: string }

/** Fetches the list. Rejects only with the reason of the signal. */
export async function fetchPrices(address: URL, signal: AbortSignal): Promise<Fetched> {
  try {
    return await read(await get({ url: address, headers: { 'Accept-Encoding': 'gzip' }, timeoutSeconds: limitSeconds }, signal))
  } catch (error) {
    signal.throwIfAborted()
    return { why: reasonOf(error) }
  }
}

async function read(response: HttpAnswer): Promise<Fetched> {
  const { status } = response
  if (status < 200 || status >= 300) {
    response.close()
    return { why: `status ${status}` }
  }
  const { value } = await parseDocumentInSlices(await decodedBody(response))
  const items = member(value, 'data')
  return Array.isArray(items) ? { list: await pricesIn(items) } : { why: 'no list in the response' }
}

/** The body without its coding, which is counted as it is decoded: a few bytes may stand for gigabytes. */
async function decodedBody(response: HttpAnswer): Promise<Buffer> {
  const isGzip = response.encoding?.toLowerCase() === 'gzip'
  return isGzip ? pipeline(response.chunks(), createGunzip(), listBytes) : listBytes(response.chunks())
}

async function listBytes(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const bytes = await bytesUpTo(maxListBytes, chunks)
  if (bytes === undefined) throw new TooLargeError(`more than ${maxListBytes} bytes`)
  return bytes
}

/** The code of an error instead of its message, which may have the address. */
function reasonOf(error: unknown): string {
  if (error instanceof JsonSyntaxError) return 'the response is not JSON'
  if (error instanceof TooLargeError) return error.message
  if (error instanceof NoAnswerInTimeError) return `no complete response within ${limitSeconds} s`
  if (error instanceof NoConnectionError) return `no connection (${errorCode(error.cause) ?? 'for an unknown reason'})`
  if (error instanceof BrokenAnswerError) return 'the connection ended within the response'
  return `the response cannot be read (${errorCode(error) ?? 'for an unknown reason'})`
}
