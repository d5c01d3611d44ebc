import { stringifyJson } from '../../wire/json/stringify.ts'

/*
 * The frames that the server writes (RFC 6455 §5.2): whole messages, without a mask.
 */

const text = 0x1
const [close, ping, pong] = [0x8, 0x9, 0xa]
const final = 0x80

/** A message with a JSON value. */
export function messageFrame(value: unknown): Uint8Array {
  return frame(text, Buffer.from(stringifyJson(value)))
}

/** The close with a code, or without one. Its reason is empty (S64). */
export function closeFrame(code?: number): Uint8Array {
  const payload = Buffer.alloc(code === undefined ? 0 : 2)
  if (code !== undefined) payload.writeUInt16BE(code)
  return frame(close, payload)
}

export const emptyPing = frame(ping, Buffer.alloc(0))

export function pongFrame(payload: Uint8Array): Uint8Array {
  return frame(pong, payload)
}

function frame(opcode: number, payload: Uint8Array): Uint8Array {
  return Buffer.concat([head(opcode, payload.length), payload])
}

function head(opcode: number, length: number): Uint8Array {
  const first = final | opcode
  if (length < 126) return Uint8Array.of(first, length)
  if (length < 0x1_0000) return Uint8Array.of(first, 126, length >> 8, length & 0xff)
  const bytes = Buffer.alloc(10)
  bytes[0] = first
  bytes[1] = 127
  bytes.writeBigUInt64BE(BigInt(length), 2)
  return bytes
}
