import { MalformedError, ValueReader, ValueWriter, type Value } from './values.ts'

/** The most bytes of a message (G56). */
export const maxMessage = 16 * 1024 * 1024

/** The types of messages. */
export const kinds = { call: 1, answer: 2, error: 3, signal: 4 } as const

/** The fields of a head that are used here: their codes and types. */
const fields = { path: [1, 'o'], interface: [2, 's'], member: [3, 's'], error: [4, 's'], answers: [5, 'u'], destination: [6, 's'], signature: [8, 'g'] } as const

const [littleEndian, bigEndian, version] = [0x6c, 0x42, 1]
const [bytesOfStart, signatureOfHead] = [16, 'yyyyuua(yv)']

/** A call of a method. */
export interface Call {
  destination: string
  path: string
  interface: string
  member: string
  /** The types of the arguments. */
  signature: string
  body: readonly Value[]
}

export function writeCall(call: Call, serial: number): Buffer {
  const body = new ValueWriter()
  body.write(call.signature, call.body)
  const bytes = body.bytes
  const used = (['path', 'interface', 'member', 'destination', 'signature'] as const).filter((name) => call[name] !== '')
  const head = new ValueWriter()
  head.write(signatureOfHead, [
    littleEndian, kinds.call, 0, version, bytes.length, serial,
    used.map((name) => [fields[name][0], [fields[name][1], call[name]]]),
  ])
  head.align(8)
  return Buffer.concat([head.bytes, bytes])
}

/** A message that was received. A missing field is undefined. */
export class Message {
  readonly kind: Value | undefined
  readonly serial: Value | undefined
  readonly #fields: ReadonlyMap<Value | undefined, Value | undefined>
  readonly #body: Buffer
  readonly #isLittle: boolean

  /** Throws a MalformedError. */
  constructor(head: Buffer, body: Buffer, isLittle: boolean) {
    const values = new ValueReader(head, isLittle).read(signatureOfHead)
    this.kind = values[1]
    this.serial = values[5]
    this.#fields = new Map((values[6] as readonly (readonly Value[])[]).map(([code, value]) => [code, value])) // by its signature
    this.#body = body
    this.#isLittle = isLittle
  }

  field(name: keyof typeof fields): Value | undefined {
    return this.#fields.get(fields[name][0])
  }

  /** The values of the body. Throws a MalformedError if they are not of these types. */
  body(signature: string): Value[] {
    if ((this.field('signature') ?? '') !== signature) throw new MalformedError('a message has other types')
    const reader = new ValueReader(this.#body, this.#isLittle)
    const values = reader.read(signature)
    if (!reader.isAtEnd) throw new MalformedError('a message has another length')
    return values
  }
}

/** Splits the bytes of a connection into messages. */
export class MessageReader {
  #chunks: Buffer[] = []
  #length = 0
  /** How many bytes must be there before anything more can be read. */
  #needed = bytesOfStart

  /** The messages that end in this chunk. Throws a MalformedError, also if a message is too large. */
  push(chunk: Buffer): Message[] {
    const messages: Message[] = []
    this.#chunks.push(chunk)
    this.#length += chunk.length
    while (this.#length >= this.#needed) {
      const [first = chunk, ...more] = this.#chunks
      const bytes = more.length === 0 ? first : Buffer.concat(this.#chunks)
      const { isLittle, head, end } = lengthsOf(bytes)
      this.#needed = end
      if (this.#length < end) {
        this.#chunks = [bytes]
        return messages
      }
      this.#chunks = [bytes.subarray(end)]
      this.#length -= end
      this.#needed = bytesOfStart
      messages.push(new Message(bytes.subarray(0, head), bytes.subarray(head, end), isLittle))
    }
    return messages
  }
}

/** The lengths that are in the first bytes of a message. */
function lengthsOf(bytes: Buffer): { isLittle: boolean; head: number; end: number } {
  const order = bytes[0]
  if ((order !== littleEndian && order !== bigEndian) || bytes[3] !== version) throw new MalformedError('this is no message of D-Bus')
  const isLittle = order === littleEndian
  const at = (offset: number): number => (isLittle ? bytes.readUInt32LE(offset) : bytes.readUInt32BE(offset))
  const head = Math.ceil((bytesOfStart + at(12)) / 8) * 8
  const end = head + at(4)
  if (end > maxMessage) throw new MalformedError(`a message has more than ${maxMessage} bytes`)
  return { isLittle, head, end }
}
