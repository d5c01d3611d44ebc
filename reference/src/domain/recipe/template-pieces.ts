import { TemplateError } from './template-error.ts'

/** A piece of a template. The text of a tag or an output is what stands between the braces. */
export interface Piece {
  type: 'text' | 'output' | 'tag'
  text: string
}

const closers = new Map([['{', '}}'], ['%', '%}'], ['#', '#}']])

/** The text between a pair of braces, and its position. */
interface Delimited {
  kind: string
  start: number
  end: number
  inside: string
}

/**
 * Finds delimited texts from left to right. It remembers which kind of brace is never closed again, and does not search for it
 * twice.
 */
class Delimiters {
  readonly #text: string
  readonly #unclosed = new Set<string>()

  constructor(text: string) {
    this.#text = text
  }

  from(at: number): Delimited | undefined {
    for (let start = this.#text.indexOf('{', at); start !== -1; start = this.#text.indexOf('{', start + 1)) {
      const kind = this.#text.charAt(start + 1)
      const closer = closers.get(kind)
      if (closer === undefined || this.#unclosed.has(kind)) continue
      const close = this.#text.indexOf(closer, start + 2)
      if (close !== -1) return { kind, start, end: close + 2, inside: this.#text.slice(start + 2, close) }
      this.#unclosed.add(kind)
    }
    return undefined
  }
}

const endOfRaw = /\{%-?\s*endraw\s*-?%\}/g

/**
 * Splits a template at its braces. A hyphen inside a brace removes the white space on its side. If the hyphen is the only
 * content, as in `{#-#}`, it belongs to the opening brace (G20). Comments are omitted. Text between `raw` and `endraw` stays
 * plain text.
 */
export function pieces(text: string): Piece[] {
  const found: Piece[] = []
  const addText = (from: number, to: number | undefined, trimStart: boolean, trimEnd: boolean): void => {
    let part = text.slice(from, to)
    if (trimStart) part = part.trimStart()
    if (trimEnd) part = part.trimEnd()
    if (part !== '') found.push({ type: 'text', text: part })
  }
  const delimiters = new Delimiters(text)
  let end = 0
  let trimNext = false
  for (let next = delimiters.from(0); next !== undefined; next = delimiters.from(end)) {
    const { kind, start, inside } = next
    addText(end, start, trimNext, inside.startsWith('-'))
    end = next.end
    trimNext = inside.length > 1 && inside.endsWith('-')
    if (kind === '{') found.push({ type: 'output', text: inside })
    if (kind !== '%') continue
    const words = inside.replace(/^-|-$/g, '').trim()
    if (words !== 'raw') {
      found.push({ type: 'tag', text: words })
      continue
    }
    endOfRaw.lastIndex = end
    const close = endOfRaw.exec(text)
    if (close === null) throw new TemplateError('endraw is missing')
    addText(end, close.index, trimNext, close[0].startsWith('{%-'))
    end = endOfRaw.lastIndex
    trimNext = close[0].endsWith('-%}')
  }
  addText(end, undefined, trimNext, false)
  return found
}
