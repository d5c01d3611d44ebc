import { TemplateError } from './template-error.ts'

/** A piece of a template, as it is delimited; of tags and outputs what is between the braces. */
export interface Piece {
  type: 'text' | 'output' | 'tag'
  text: string
}

const delimited = /\{\{([^]*?)\}\}|\{%([^]*?)%\}|\{#([^]*?)#\}/g
const endOfRaw = /\{%-?\s*endraw\s*-?%\}/g

/**
 * Cuts a template at its braces. A hyphen inside a brace takes away the white space on its side. Comments are left out, and
 * what is between `raw` and `endraw` is text.
 */
export function pieces(text: string): Piece[] {
  const found: Piece[] = []
  const addText = (from: number, to: number | undefined, trimStart: boolean, trimEnd: boolean): void => {
    let part = text.slice(from, to)
    if (trimStart) part = part.trimStart()
    if (trimEnd) part = part.trimEnd()
    found.push({ type: 'text', text: part })
  }
  let end = 0
  let trimNext = false
  delimited.lastIndex = 0
  for (let match = delimited.exec(text); match !== null; match = delimited.exec(text)) {
    const [whole, output, tag, comment = ''] = match
    const inside = output ?? tag ?? comment
    addText(end, match.index, trimNext, inside.startsWith('-'))
    end = match.index + whole.length
    trimNext = inside.endsWith('-')
    if (output !== undefined) found.push({ type: 'output', text: output })
    if (tag === undefined) continue
    const words = tag.replace(/^-|-$/g, '').trim()
    if (words !== 'raw') {
      found.push({ type: 'tag', text: words })
      continue
    }
    endOfRaw.lastIndex = end
    const close = endOfRaw.exec(text)
    if (close === null) throw new TemplateError('endraw is missing')
    addText(end, close.index, trimNext, close[0].startsWith('{%-'))
    end = delimited.lastIndex = endOfRaw.lastIndex
    trimNext = close[0].endsWith('-%}')
  }
  addText(end, undefined, trimNext, false)
  return found
}
