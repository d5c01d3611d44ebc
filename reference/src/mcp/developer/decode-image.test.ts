import { encode } from 'jpeg-js'
import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { decodeImage, encodePng } from './decode-image.ts'
import { scaledTo } from './pixels.ts'

const red = [0xff, 0, 0, 0xff]
const white = [0xff, 0xff, 0xff, 0xff]
const black = [0, 0, 0, 0xff]
const none = [0, 0, 0, 0]

function png(width: number, height: number, pixels: number[][]): Buffer {
  return encodePng({ width, height, data: Uint8Array.from(pixels.flat()) })
}

/** A GIF in black and white, with these frame flags and LZW codes. */
function gif(width: number, height: number, flags: number, codes: number[], more: number[] = []): Buffer {
  const head = [...Buffer.from('GIF89a'), width, 0, height, 0, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff]
  return Buffer.from([...head, ...more, 0x2c, 0, 0, 0, 0, width, 0, height, 0, flags, 2, codes.length, ...codes, 0, 0x3b])
}

/**
 * Packs 3-bit codes. The first one clears the table, and the last one ends the data. There must be so few that the codes do not
 * grow.
 */
function packed(...codes: number[]): number[] {
  const bits = [4, ...codes, 5].map((code) => code.toString(2).padStart(3, '0')).reverse().join('')
  const whole = bits.padStart(Math.ceil(bits.length / 8) * 8, '0')
  return (whole.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)).reverse()
}

describe('an image (X40)', () => {
  it('is a PNG', () => {
    expect(decodeImage(png(2, 1, [red, none]))).toMatchObject({ width: 2, height: 1, data: Buffer.from([...red, ...none]) })
  })

  it('is a JPEG', () => {
    const { width, height, data } = decodeImage(encode({ width: 2, height: 1, data: Buffer.from([...white, ...white]) }, 100).data)
    expect([width, height, ...data]).toEqual([2, 1, ...white, ...white])
  })

  it.each([
    ['plain', gif(2, 1, 0, packed(0, 1)), [black, white]],
    ['partly transparent', gif(2, 1, 0, packed(0, 1), [0x21, 0xf9, 4, 1, 0, 0, 0, 0]), [none, white]],
    ['with a code for what comes just then', gif(3, 1, 0, packed(1, 6)), [white, white, white]],
    ['interlaced', gif(1, 3, 0x40, packed(1, 0, 4, 0)), [white, black, black]],
  ])('is a GIF, %s', (_, file, pixels) => {
    expect([...decodeImage(file).data]).toEqual(pixels.flat())
  })

  it.each([
    ['text', Buffer.from('no')],
    ['a broken PNG', png(2, 1, [red, red]).subarray(0, 40)],
    ['a GIF without all pixels', gif(2, 1, 0, packed(0))],
    ['a GIF with too many pixels', gif(2, 1, 0, packed(1, 6))],
    ['a GIF with colours that it has not', gif(1, 1, 0, packed(2))],
    ['a GIF that ends', gif(2, 1, 0, packed(0, 1)).subarray(0, -3)],
    ['a broken JPEG', encode({ width: 2, height: 1, data: Buffer.from([...white, ...white]) }, 100).data.subarray(0, 300)],
  ])('is not %s', (_, file) => {
    expect(() => decodeImage(file)).toThrow()
  })

  it('is rejected by the size in its header', () => {
    const file = png(1, 1, [red])
    file.writeUInt32BE(50_000_001, 16)
    expect(() => decodeImage(file)).toThrow('50000001 x 1')
    const jpeg = encode({ width: 8, height: 8, data: Buffer.alloc(256) }, 100).data
    jpeg.writeUInt32BE(0x1e00_1e00, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5)
    expect(() => decodeImage(jpeg)).toThrow('maxResolutionInMP')
  })

  it('is scaled down, and transparent pixels have no colour', () => {
    const image = decodeImage(png(4, 2, [red, red, black, none, red, red, black, none]))
    expect(scaledTo(4, image)).toBe(image)
    expect([...scaledTo(2, image).data]).toEqual([...red, 0, 0, 0, 0x80])
    expect(scaledTo(3, decodeImage(PNG.sync.write(new PNG({ width: 9, height: 1 }))))).toMatchObject({ width: 3, height: 1 })
  })
})
