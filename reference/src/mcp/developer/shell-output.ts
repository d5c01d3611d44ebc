import type { Readable } from 'node:stream'

export type StreamName = 'stdout' | 'stderr'

/** Receives each line as it arrives. */
export type LineListener = (line: string, stream: StreamName) => void

/** The most code points of an output (X16). */
export const maxCharacters = 400_000

/** The lines of two streams, in the order in which they arrive. */
export class ShellOutput {
  readonly #lines: string[] = []
  readonly #onLine: LineListener
  readonly #onTooMany: () => void
  /** Functions that end the streams that did not end by themselves. */
  readonly #ends: (() => void)[] = []
  #characters = 0

  /** `onTooMany` is called if there are too many characters. From then on nothing is kept. */
  constructor(onLine: LineListener, onTooMany: () => void) {
    this.#onLine = onLine
    this.#onTooMany = onTooMany
  }

  read(stream: Readable, name: StreamName): void {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    let rest = ''
    const take = (decoded: string): void => {
      if (!this.#counts(decoded)) return
      const lines = (rest + decoded).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#add(line, name)
    }
    stream.on('data', (chunk: Buffer) => {
      take(decoder.decode(chunk, { stream: true }))
    })
    this.#ends.push(() => {
      take(decoder.decode())
      if (rest !== '' && this.#characters <= maxCharacters) this.#add(rest, name)
    })
  }

  /** The lines; undefined if there were too many characters. */
  end(): string[] | undefined {
    for (const end of this.#ends) end()
    return this.#characters > maxCharacters ? undefined : this.#lines
  }

  #add(line: string, name: StreamName): void {
    this.#lines.push(line)
    this.#onLine(line, name)
  }

  #counts(decoded: string): boolean {
    const had = this.#characters
    this.#characters += decoded.length - (decoded.match(/[\uDC00-\uDFFF]/g)?.length ?? 0)
    if (had <= maxCharacters && this.#characters > maxCharacters) this.#onTooMany()
    return this.#characters <= maxCharacters
  }
}
