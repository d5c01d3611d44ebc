import { describe, expect, it } from 'vitest'
import { message } from '../../testing/fake-bus.ts'
import { MessageReader, maxMessage, writeCall, type Message } from './messages.ts'
import { MalformedError, ValueReader, ValueWriter } from './values.ts'

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s/g, ''), 'hex')

/** An answer to the call 2, with the text `ab`, in big-endian order. */
const bigEndian = hex(`
  42 02 01 01  00000007 00000009 0000000f
  05 01 75 00  00000002
  08 01 67 00  01 73 00  00
  00000002 61 62 00`)

function read(...chunks: Buffer[]): Message[] {
  const reader = new MessageReader()
  return chunks.flatMap((chunk) => reader.push(chunk))
}

/** A message whose first bytes say that it has this many bytes. */
function ofLength(length: number): Buffer {
  const bytes = Buffer.alloc(Math.min(length, maxMessage))
  bytes.set(message(4, [[1, 'o', '/a']]))
  bytes.writeUInt32LE(length - 32, 4)
  return bytes
}

it('a call has the bytes of the D-Bus specification', () => {
  const call = { destination: 'a.b', path: '/c', interface: '', member: 'M', signature: 'sayv', body: ['x', Buffer.of(7, 8), ['b', true]] }
  expect(writeCall(call, 5)).toEqual(
    hex(`
    6c 01 00 01  18000000 05000000 3a000000
    01 01 6f 00  02000000 2f63 00 0000000000
    03 01 73 00  01000000 4d 00 000000000000
    06 01 73 00  03000000 612e62 00 00000000
    08 01 67 00  04 73617976 00 000000000000
    01000000 78 00 0000  02000000 0708  01 62 00 000000 01000000`),
  )
})

describe('messages', () => {
  it('are read in pieces, in both byte orders', () => {
    const two = Buffer.concat([bigEndian, message(3, [[4, 's', 'a.Error'], [5, 'u', 3]])])
    for (const chunks of [[two], [...two].map((byte) => Buffer.of(byte))]) {
      const [first, second] = read(...chunks)
      expect([first?.field('answers'), first?.body('s'), second?.field('error'), second?.body('')]).toEqual([2, ['ab'], 'a.Error', []])
    }
  })

  it('may have 16 MiB, and not a byte more (G56)', () => {
    expect(read(ofLength(maxMessage))).toHaveLength(1)
    expect(() => read(ofLength(maxMessage + 1).subarray(0, 16))).toThrow('more than 16777216 bytes')
  })

  it.each([
    ['no byte order', hex('00 02 00 01 00000000 01000000 00000000')],
    ['another version', hex('6c 02 00 02 00000000 01000000 00000000')],
    ['fields that end too early', hex('6c 02 00 01 00000000 01000000 04000000 05017500 00000000')],
    ['4 GiB of fields', hex('6c 02 00 01 00000000 01000000 ffffffff')],
  ])('with %s are malformed', (_, bytes) => {
    expect(() => read(bytes)).toThrow(MalformedError)
  })

  it('are malformed if the body has other types, or another length', () => {
    expect(() => read(bigEndian)[0]?.body('o')).toThrow('other types')
    const long = hex('6c 02 00 01 05000000 01000000 07000000  08 01 67 00 01 75 00 00  01000000 ff')
    expect(() => read(long)[0]?.body('u')).toThrow('another length')
  })
})

describe('values', () => {
  it('are read as they were written', () => {
    const writer = new ValueWriter()
    const signature = 'ya(ya{sv})gaob'
    const values = [1, [[2, [['k', ['as', ['a', 'ü']]]]], [3, []]], 'a{sv}', ['/', '/a'], false]
    writer.write(signature, values)
    values[1] = [[2, [['k', ['a', 'ü']]]], [3, []]] // a variant is read without its signature
    const reader = new ValueReader(writer.bytes, true)
    expect(reader.read(signature)).toEqual(values)
    expect(reader.isAtEnd).toBe(true)
  })

  it('of types without a use are skipped', () => {
    const numbers = ['n', 'q', 'i', 'x', 't', 'd', 'h'].join('')
    expect(new ValueReader(Buffer.alloc(45, 1), true).read(`${numbers}y`).at(-1)).toBe(1)
  })

  it.each([
    ['a number that ends too early', 'u', '010203'],
    ['a text that is longer than the rest', 's', 'ffffffff 6100'],
    ['a text without its end', 's', '01000000 6161'],
    ['a text that is not UTF-8', 's', '01000000 ff00'],
    ['bytes that are longer than the rest', 'ay', '04000000 010203'],
    ['an array that ends inside a member', 'au', '06000000 0000000000000000'],
    ['a boolean that is neither', 'b', '02000000'],
    ['a variant without a type', 'v', '00 00'],
    ['a variant with two types', 'v', '02 7979 00 0101'],
    ['a structure without a type', 'v', '02 2829 00'],
    ['an open structure', 'v', '02 2879 00 01'],
    ['an array of no type', 'v', '01 61 00 00000000'],
    ['an unknown type', 'v', '01 7a 00 01'],
    ['too many levels', 'v', '01 76 00'.repeat(70)],
  ])('%s is malformed', (_, signature, bytes) => {
    expect(() => new ValueReader(hex(bytes), true).read(signature)).toThrow(MalformedError)
  })
})
