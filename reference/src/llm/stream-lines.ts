import { parseJsonDocument } from '../wire/json/document.ts'
import { isObject } from '../wire/json/is-object.ts'
import { JsonSyntaxError } from '../wire/json/parse.ts'
import { maxAnswerBytes } from './http-call.ts'
import type { Piece } from './model.ts'
import { BadStreamError, CutStreamError, type StreamReader } from './model-protocol.ts'

/** The most bytes that are read of one line of a stream (M38). */
const maxLineBytes = 4 * 1024 * 1024

/** The pieces of a stream of lines `data: {json}`. If the stream ends badly, throws after the pieces that still count. */
export async function* piecesOf(chunks: AsyncIterable<Buffer>, reader: StreamReader): AsyncGenerator<Piece> {
  try {
    for await (const line of lines(chunks)) {
      yield* piecesOfLine(line, reader)
      if (reader.over) return
    }
    if (!reader.complete) throw new CutStreamError('the stream ended before the answer')
  } finally {
    if (!reader.over) yield* reader.cut()
  }
}

function piecesOfLine(line: Buffer, reader: StreamReader): Piece[] {
  if (!line.subarray(0, prefix.length).equals(prefix)) return []
  const data = line.subarray(prefix.length)
  if (data.equals(doneMark)) return reader.done()
  try {
    return reader.read(objectOf(data))
  } catch (cause) {
    if (!(cause instanceof JsonSyntaxError)) throw cause
    throw new BadStreamError('a line of the stream is no JSON object', { cause })
  }
}

function objectOf(data: Buffer): object {
  const { value } = parseJsonDocument(data)
  if (!isObject(value)) throw new JsonSyntaxError('no object')
  return value
}

const prefix = Buffer.from('data: ')
const doneMark = Buffer.from('[DONE]')

/** The lines of a body without their line ends. The last line may lack its line end. */
async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let [lineBytes, allBytes] = [0, 0]
  const take = (): Buffer => {
    const line = Buffer.concat(parts, lineBytes)
    parts = []
    lineBytes = 0
    return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line
  }
  const add = (part: Buffer): void => {
    parts.push(part)
    lineBytes += part.length
    if (lineBytes > maxLineBytes) throw new BadStreamError('a line of the stream is too long')
  }
  for await (const chunk of chunks) {
    allBytes += chunk.length
    if (allBytes > maxAnswerBytes) throw new BadStreamError('the stream is too long')
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    add(chunk.subarray(start))
  }
  if (lineBytes > 0) yield take()
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
