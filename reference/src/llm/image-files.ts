import { constants, open } from 'node:fs/promises'
import { wordsOf } from '../text/white-space.ts'

/** An image as messages carry it. */
export interface ImageData {
  data: string
  mimeType: string
}

const maxImageBytes = 20 * 1024 * 1024

const signatures = [
  { mimeType: 'image/png', bytes: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { mimeType: 'image/jpeg', bytes: Buffer.from([0xff, 0xd8, 0xff]) },
]

/** The images whose files these texts name by absolute paths, each file once (M13). */
export async function imagesNamedIn(texts: readonly string[]): Promise<ImageData[]> {
  const words = texts.flatMap(wordsOf).filter((word) => /^\/.*\.(?:png|jpe?g)$/i.test(word))
  const images = await Promise.all([...new Set(words)].map(readImage))
  return images.filter((image) => image !== undefined)
}

/** Undefined for what is no image, or no file at all. */
async function readImage(path: string): Promise<ImageData | undefined> {
  // Nobody waits for the other end of a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const stat = await file.stat()
    if (!stat.isFile() || stat.size > maxImageBytes) return undefined
    const bytes = await file.readFile()
    const signature = signatures.find(({ bytes: first }) => bytes.subarray(0, first.length).equals(first))
    return signature && { data: bytes.toString('base64'), mimeType: signature.mimeType }
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}
