import { inflateSync } from 'node:zlib'
import { decode } from 'jpeg-js'
import { PNG } from 'pngjs'
import { decodeGif } from './gif.ts'
import { checkSize, type Pixels } from './pixels.ts'

const kinds = [
  { begin: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), decode: decodePng },
  { begin: Buffer.from([0xff, 0xd8, 0xff]), decode: decodeJpeg },
  { begin: Buffer.from('GIF87a'), decode: decodeGif },
  { begin: Buffer.from('GIF89a'), decode: decodeGif },
]

/** The pixels of an image file, whose format is detected from its content. Throws if it cannot be read or is too large (X40). */
export function decodeImage(file: Buffer): Pixels {
  const kind = kinds.find(({ begin }) => file.subarray(0, begin.length).equals(begin))
  if (kind === undefined) throw new Error('no image')
  return kind.decode(file)
}

/** Checks the file first: the decoder would accept a second header, and inflate any number of interlaced pixels. */
function decodePng(file: Buffer): Pixels {
  const [width, height, interlaced] = [file.readUInt32BE(16), file.readUInt32BE(20), file.readUInt8(28) !== 0]
  checkSize(width, height)
  const packed: Buffer[] = []
  let at = 8
  for (let name = ''; name !== 'IEND';) {
    name = file.toString('latin1', at + 4, at + 8)
    if ((name === 'IHDR') !== (at === 8)) throw new Error('not one header')
    const end = at + 8 + file.readUInt32BE(at)
    if (name === 'IDAT') packed.push(file.subarray(at + 8, end))
    at = end + 4
  }
  if (interlaced) inflateSync(Buffer.concat(packed), { maxOutputLength: width * height * 8 + height * 4 + 64 })
  return PNG.sync.read(file.subarray(0, at))
}

/** The decoder itself checks the size first. */
function decodeJpeg(file: Buffer): Pixels {
  const image = decode(file, { useTArray: true, maxResolutionInMP: 50, maxMemoryUsageInMB: 2048 })
  checkSize(image.width, image.height)
  return image
}

/** Encodes the pixels as a PNG file. */
export function encodePng({ width, height, data }: Pixels): Buffer {
  const image = new PNG({ width, height })
  image.data.set(data)
  return PNG.sync.write(image)
}
