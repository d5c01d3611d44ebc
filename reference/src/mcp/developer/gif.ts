import { checkSize, type Pixels } from './pixels.ts'

/** Decodes the first frame of a GIF file. Reading beyond the end of the file throws. */
export function decodeGif(file: Buffer): Pixels {
  const [width, height] = [file.readUInt16LE(6), file.readUInt16LE(8)]
  checkSize(width, height)
  const colours = paletteAt(file, 13, file.readUInt8(10))
  let at = 13 + colours.length
  let transparent: number | undefined
  while (file.readUInt8(at) === 0x21) {
    if (file.readUInt8(at + 1) === 0xf9) transparent = (file.readUInt8(at + 3) & 1) === 1 ? file.readUInt8(at + 6) : undefined
    at = blocksAt(file, at + 2).end
  }
  if (file.readUInt8(at) !== 0x2c) throw new Error('no frame')
  const image = { width, height, data: new Uint8Array(width * height * 4) }
  paint(image, file, at + 1, colours, transparent)
  return image
}

/** Draws the frame whose description is at this offset. */
function paint(image: Pixels, file: Buffer, at: number, shared: Buffer, transparent: number | undefined): void {
  const [left, top, width, height] = [file.readUInt16LE(at), file.readUInt16LE(at + 2), file.readUInt16LE(at + 4), file.readUInt16LE(at + 6)]
  if (left + width > image.width || top + height > image.height) throw new Error('a frame outside of its image')
  const flags = file.readUInt8(at + 8)
  const own = paletteAt(file, at + 9, flags)
  const colours = own.length > 0 ? own : shared
  const codes = at + 9 + own.length
  const indexes = unpacked(blocksAt(file, codes + 1).data, file.readUInt8(codes), width * height)
  rowsOf(height, (flags & 0x40) !== 0).forEach((row, turn) => {
    for (let x = 0; x < width; x++) {
      const index = indexes[turn * width + x] ?? 0
      if (index === transparent) continue
      const place = ((top + row) * image.width + left + x) * 4
      image.data.set([colours.readUInt8(index * 3), colours.readUInt8(index * 3 + 1), colours.readUInt8(index * 3 + 2), 0xff], place)
    }
  })
}

/** The palette at this offset; empty if the flags say that there is none. */
function paletteAt(file: Buffer, at: number, flags: number): Buffer {
  return file.subarray(at, (flags & 0x80) === 0 ? at : at + 3 * (2 << (flags & 7)))
}

/** The joined data of the blocks up to an empty one. */
function blocksAt(file: Buffer, begin: number): { data: Buffer; end: number } {
  const blocks: Buffer[] = []
  let at = begin
  for (let size = file.readUInt8(at); size > 0; size = file.readUInt8(at)) {
    blocks.push(file.subarray(at + 1, at + 1 + size))
    at += 1 + size
  }
  return { data: Buffer.concat(blocks), end: at + 1 }
}

/** The row numbers in the order in which rows are stored. */
function rowsOf(height: number, interlaced: boolean): number[] {
  const passes = interlaced ? [[0, 8], [4, 8], [2, 4], [1, 2]] as const : [[0, 1]] as const
  return passes.flatMap(([first, step]) => Array.from({ length: Math.max(0, Math.ceil((height - first) / step)) }, (_, turn) => first + turn * step))
}

/** Decompresses LZW. The text of a new code is already in the output: it is the text of the code before it, plus the next byte. */
function unpacked(codes: Buffer, literalBits: number, count: number): Uint8Array {
  if (literalBits > 8) throw new Error('codes that are too long')
  const clear = 1 << literalBits
  const starts = new Uint32Array(4096)
  const lengths = new Uint32Array(4096)
  const written = new Uint8Array(count)
  let [at, bits, held, codeBits, next, before] = [0, 0, 0, literalBits + 1, clear + 2, -1]
  for (const byte of codes) {
    bits |= byte << held
    held += 8
    while (held >= codeBits) {
      const code = bits & ((1 << codeBits) - 1)
      bits >>>= codeBits
      held -= codeBits
      if (code === clear) {
        ;[codeBits, next, before] = [literalBits + 1, clear + 2, -1]
        continue
      }
      if (at === count || code === clear + 1) return complete(written, at)
      if (before >= 0 && next < 4096) {
        starts[next] = before
        lengths[next++] = at - before + 1
        if (next === 1 << codeBits && codeBits < 12) codeBits++
      }
      if (code >= next) throw new Error('a code without a meaning')
      before = at
      const [start, length] = code < clear ? [-1, 1] : [starts[code] ?? 0, lengths[code] ?? 0]
      if (at + length > count) throw new Error('more pixels than the frame has')
      for (let i = 0; i < length; i++) written[at++] = start < 0 ? code : (written[start + i] ?? 0)
    }
  }
  return complete(written, at)
}

function complete(written: Uint8Array, count: number): Uint8Array {
  if (count < written.length) throw new Error('fewer pixels than the frame has')
  return written
}
