import { constants, open } from 'node:fs/promises'
import { wordsOf } from '../text/white-space.ts'

/** An image in the form in which requests to models contain it. */
export interface ImageData {
  data: string
  mimeType: string
}

/** The most bytes that are read of one image (M13). */
const maxImageBytes = 20 * 1024 * 1024
const maxPaths = 100
const maxRequestBytes = 50 * 1024 * 1024

/** How many bytes of image files one request can still include. */
export class ImageRoom {
  left = maxRequestBytes
}

const signatures = [
  { mimeType: 'image/png', bytes: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { mimeType: 'image/jpeg', bytes: Buffer.from([0xff, 0xd8, 0xff]) },
]

/** The images whose absolute paths appear in these texts of a message. Each file is read once, while there is room (M13). */
export async function imagesNamedIn(texts: readonly string[], room: ImageRoom): Promise<ImageData[]> {
  const words = texts.flatMap(wordsOf).filter((word) => /^\/.*\.(?:png|jpe?g)$/i.test(word))
  const images: ImageData[] = []
  for (const path of [...new Set(words)].slice(0, maxPaths)) {
    const image = await readImage(path, room)
    if (image !== undefined) images.push(image)
  }
  return images
}

/** Reads an image file. Undefined if the path is not an image file, or the image does not fit. */
async function readImage(path: string, room: ImageRoom): Promise<ImageData | undefined> {
  // Opening a FIFO must not block.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const stat = await file.stat()
    if (!stat.isFile() || stat.size > Math.min(maxImageBytes, room.left)) return undefined
    const bytes = await file.readFile()
    const signature = signatures.find(({ bytes: first }) => bytes.subarray(0, first.length).equals(first))
    if (signature === undefined) return undefined
    room.left -= bytes.length
    return { data: bytes.toString('base64'), mimeType: signature.mimeType }
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}
