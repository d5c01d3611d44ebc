/** An image. Each pixel has four bytes: red, green, blue and alpha. Pixels are stored row by row. */
export interface Pixels {
  width: number
  height: number
  data: Uint8Array
}

const maxPixels = 50_000_000

/** Throws if an image of this size has no pixels, or too many (X40). */
export function checkSize(width: number, height: number): void {
  if (width * height === 0 || width * height > maxPixels) throw new Error(`an image of ${String(width)} x ${String(height)} pixels`)
}

/** The image, reduced to at most this width, with its aspect ratio kept (X40). */
export function scaledTo(maxWidth: number, image: Pixels): Pixels {
  if (image.width <= maxWidth) return image
  const width = maxWidth
  const height = Math.max(1, Math.floor((image.height * maxWidth) / image.width))
  const data = new Uint8Array(width * height * 4)
  for (let y = 0; y < height; y++) {
    const rows = spread(y, height, image.height)
    for (let x = 0; x < width; x++) data.set(meanOf(image, spread(x, width, image.width), rows), (y * width + x) * 4)
  }
  return { width, height, data }
}

type Range = readonly [begin: number, end: number]

/** The range of the `many` pixels that pixel `place` of the `few` covers. */
function spread(place: number, few: number, many: number): Range {
  return [Math.floor((place * many) / few), Math.ceil(((place + 1) * many) / few)]
}

/** The mean colour of a box. Transparent pixels contribute no colour. */
function meanOf({ width, data }: Pixels, [left, right]: Range, [top, bottom]: Range): readonly number[] {
  let [red, green, blue, alpha] = [0, 0, 0, 0]
  for (let y = top; y < bottom; y++) {
    for (let at = (y * width + left) * 4; at < (y * width + right) * 4; at += 4) {
      const weight = data[at + 3] ?? 0
      red += (data[at] ?? 0) * weight
      green += (data[at + 1] ?? 0) * weight
      blue += (data[at + 2] ?? 0) * weight
      alpha += weight
    }
  }
  if (alpha === 0) return [0, 0, 0, 0]
  return [red / alpha, green / alpha, blue / alpha, alpha / ((right - left) * (bottom - top))].map(Math.round)
}
