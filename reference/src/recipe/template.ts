import { isTrue, parseExpression, written } from './expression.ts'
import type { Expression, ParsedExpression, Scope } from './expression.ts'
import { TemplateError } from './template-error.ts'

/*
 * The template language of recipes (GA 11.2): `{{ expression }}`, `{% if %}`, `{% for %}`, `{% raw %}` and `{# comment #}`.
 * What stands between `{{` and `}}` and is no expression is text.
 */

/** A template that has been read. */
export interface Template {
  /** The variables that it uses and does not make itself. */
  variables: ReadonlySet<string>
  /** Throws a TemplateError when a variable that is used has no value. */
  render: (values: ReadonlyMap<string, unknown>) => string
}

/** Reads a template. Throws a TemplateError when a tag is unknown, or not closed. */
export function parseTemplate(text: string): Template {
  const parser = new TemplateParser(text)
  const render = parser.whole()
  return { variables: parser.variables, render: (values) => render((name) => values.get(name)) }
}

type Render = (scope: Scope) => string

/** A piece of the text, as it is delimited. */
interface Piece {
  type: 'text' | 'output' | 'tag'
  text: string
}

const delimited = /\{\{([^]*?)\}\}|\{%-?([^]*?)-?%\}|\{#[^]*?#\}/g
const raw = /^\s*raw\s*$/

class TemplateParser {
  readonly variables = new Set<string>()
  readonly #pieces: readonly Piece[]
  /** Names that loops around this place have made. */
  readonly #made: string[] = []
  #at = 0

  constructor(text: string) {
    this.#pieces = pieces(text)
  }

  whole(): Render {
    const body = this.#until()
    const left = this.#tag()
    if (left !== undefined) throw new TemplateError(`unexpected tag ${left}`)
    return body
  }

  /** Everything up to one of these tags, which is not taken, or to the end. */
  #until(...ends: string[]): Render {
    const parts: Render[] = []
    for (; this.#at < this.#pieces.length; this.#at++) {
      const tag = this.#tag()
      if (tag !== undefined && ends.includes(tag.split(/\s/, 1)[0] ?? '')) break
      const piece = this.#pieces[this.#at]
      if (piece !== undefined) parts.push(this.#part(piece))
    }
    return (scope) => parts.map((part) => part(scope)).join('')
  }

  #part({ type, text }: Piece): Render {
    switch (type) {
      case 'text':
        return () => text
      case 'output':
        return this.#output(text)
      case 'tag':
        return this.#block(text)
      default:
        return type satisfies never
    }
  }

  #output(text: string): Render {
    let parsed: ParsedExpression
    try {
      parsed = parseExpression(text.replace(/^-|-$/g, ''))
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      return () => `{{${text}}}`
    }
    const value = this.#using(parsed)
    return (scope) => written(value(scope))
  }

  #block(tag: string): Render {
    const [, name = '', rest = ''] = /^(\w*)\s*([^]*)$/.exec(tag) ?? []
    if (name === 'if') return this.#if(rest)
    if (name === 'for') return this.#for(rest)
    throw new TemplateError(`unexpected tag ${tag}`)
  }

  #if(condition: string): Render {
    const branches: { when: Expression; body: Render }[] = []
    let when: Expression | undefined = this.#expression(condition)
    while (when !== undefined) {
      this.#at++
      branches.push({ when, body: this.#until('elif', 'else', 'endif') })
      const [, next = '', rest = ''] = /^(\w*)\s*([^]*)$/.exec(this.#tag() ?? '') ?? []
      if (next === '') throw new TemplateError('endif is missing')
      if (next === 'elif') when = this.#expression(rest)
      else if (next === 'else') when = () => true
      else when = undefined
    }
    return (scope) => branches.find((branch) => isTrue(branch.when(scope)))?.body(scope) ?? ''
  }

  #for(loop: string): Render {
    const [, name, list] = /^([A-Za-z_]\w*)\s+in\s+([^]+)$/.exec(loop) ?? []
    if (name === undefined || list === undefined) throw new TemplateError(`unexpected tag for ${loop}`)
    const values = this.#expression(list)
    this.#made.push(name)
    this.#at++
    const body = this.#until('endfor')
    if (this.#tag() === undefined) throw new TemplateError('endfor is missing')
    this.#made.pop()
    return (scope) => {
      const items = values(scope)
      if (!Array.isArray(items)) throw new TemplateError(`${list.trim()} is not a list`)
      return items.map((item: unknown) => body((wanted) => (wanted === name ? item : scope(wanted)))).join('')
    }
  }

  #expression(text: string): Expression {
    return this.#using(parseExpression(text))
  }

  #using({ value, names }: ParsedExpression): Expression {
    for (const name of names) if (!this.#made.includes(name)) this.variables.add(name)
    return value
  }

  /** The tag at this place, if there is one. */
  #tag(): string | undefined {
    const piece = this.#pieces[this.#at]
    return piece?.type === 'tag' ? piece.text : undefined
  }
}

function pieces(text: string): Piece[] {
  const found: Piece[] = []
  let end = 0
  delimited.lastIndex = 0
  for (let match = delimited.exec(text); match !== null; match = delimited.exec(text)) {
    const [whole, output, tag] = match
    found.push({ type: 'text', text: text.slice(end, match.index) })
    end = match.index + whole.length
    if (output !== undefined) found.push({ type: 'output', text: output })
    if (tag === undefined) continue
    if (!raw.test(tag)) {
      found.push({ type: 'tag', text: tag.trim() })
      continue
    }
    const close = /\{%-?\s*endraw\s*-?%\}/g
    close.lastIndex = end
    const closed = close.exec(text)
    if (closed === null) throw new TemplateError('endraw is missing')
    found.push({ type: 'text', text: text.slice(end, closed.index) })
    end = delimited.lastIndex = close.lastIndex
  }
  found.push({ type: 'text', text: text.slice(end) })
  return found
}
