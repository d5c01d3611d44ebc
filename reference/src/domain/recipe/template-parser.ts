import { maxLevels, type Budget } from './budget.ts'
import { isTrue, parseExpression, written, type Expression, type ParsedExpression } from './expression.ts'
import type { Render, Template } from './template-renderer.ts'
import { pieces, type Piece } from './template-pieces.ts'
import { LimitError, TemplateError } from './template-error.ts'

/*
 * The template language of recipes (GA 11.2, G20). Text between `{{` and `}}` that is not an expression stays plain text.
 */

/** Parses a template. Throws a TemplateError if a tag is unknown or not closed. */
export function parseTemplate(text: string, budget: Budget): Template {
  return new TemplateParser(text, budget).template()
}

class TemplateParser {
  readonly #variables = new Set<string>()
  readonly #blocks = new Map<string, Render>()
  #parent: Expression | undefined
  readonly #budget: Budget
  readonly #pieces: readonly Piece[]
  /** The names that the template has defined so far. Each loop has a set of its own. */
  readonly #made: Set<string>[] = [new Set()]
  #at = 0
  #levels = 0

  constructor(text: string, budget: Budget) {
    this.#budget = budget
    this.#pieces = pieces(text)
  }

  template(): Template {
    const body = this.#until()
    return { variables: this.#variables, body, blocks: this.#blocks, parent: this.#parent }
  }

  /** Parses up to one of these tags, which is not consumed, or up to the end. */
  #until(...ends: string[]): Render {
    if (++this.#levels > maxLevels) throw new LimitError('tags are nested too deep')
    const parts: Render[] = []
    for (; this.#at < this.#pieces.length; this.#at++) {
      const tag = this.#tag()
      if (tag !== undefined && ends.includes(tag.name)) break
      const piece = this.#pieces[this.#at]
      if (piece !== undefined) parts.push(this.#part(piece))
    }
    this.#levels--
    return (rendering, names) => {
      let written = ''
      for (const part of parts) {
        rendering.budget.piece()
        written += part(rendering, names)
      }
      return written
    }
  }

  /** Parses up to this tag, and consumes it. The tag is required. */
  #closedBy(end: string): Render {
    this.#at++
    const body = this.#until(end)
    this.#bare(end)
    return body
  }

  #part({ type, text }: Piece): Render {
    switch (type) {
      case 'text':
        return (rendering) => rendering.budget.write(text)
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
      parsed = parseExpression(text.replace(/^-|-$/g, ''), this.#budget)
    } catch (error) {
      if (!(error instanceof TemplateError) || error instanceof LimitError) throw error
      return (rendering) => rendering.budget.write(`{{${text}}}`)
    }
    const value = this.#using(parsed)
    return (rendering, names) => rendering.budget.write(written(value(names)))
  }

  #block(text: string): Render {
    const { name, rest } = tagOf(text)
    switch (name) {
      case 'if':
        return this.#if(rest)
      case 'for':
        return this.#for(rest)
      case 'set':
        return this.#set(rest)
      case 'include': {
        const file = this.#expression(rest)
        return (rendering, names) => rendering.include(written(file(names)), names)
      }
      case 'extends':
        this.#parent ??= this.#expression(rest)
        return () => ''
      case 'block':
        return this.#namedBlock(rest)
      default:
        throw new TemplateError(`unexpected tag ${text}`)
    }
  }

  #if(condition: string): Render {
    const branches: { when: Expression; body: Render }[] = []
    let when: Expression | undefined = this.#expression(condition)
    let isElse = false
    while (when !== undefined) {
      this.#at++
      branches.push({ when, body: isElse ? this.#until('endif') : this.#until('elif', 'else', 'endif') })
      const next = this.#tag()
      if (next === undefined) throw new TemplateError('endif is missing')
      isElse = next.name === 'else'
      if (next.name === 'elif') when = this.#expression(next.rest)
      else when = isElse ? () => true : undefined
      if (next.name !== 'elif') this.#bare(next.name)
    }
    return (rendering, names) =>
      branches.find((branch) => isTrue(branch.when(names)))?.body(rendering, names) ?? ''
  }

  #for(loop: string): Render {
    const [, name, list] = /^([A-Za-z_][A-Za-z0-9_]*)\s+in\s+([^]+)$/.exec(loop) ?? []
    if (name === undefined || list === undefined) throw new TemplateError(`unexpected tag for ${loop}`)
    const values = this.#expression(list)
    this.#made.push(new Set([name]))
    const body = this.#closedBy('endfor')
    this.#made.pop()
    return (rendering, names) => {
      const items = values(names)
      if (!Array.isArray(items)) throw new TemplateError(`${list.trim()} is not a list`)
      let written = ''
      for (const item of items as unknown[]) {
        rendering.budget.piece()
        written += body(rendering, names.inside([[name, item]]))
      }
      return written
    }
  }

  #set(assignment: string): Render {
    const [, name, text] = /^([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)\s*([^]+)$/.exec(assignment) ?? []
    if (name === undefined || text === undefined) throw new TemplateError(`unexpected tag set ${assignment}`)
    const value = this.#expression(text)
    this.#made.at(-1)?.add(name)
    return (_, names) => {
      names.set(name, value(names))
      return ''
    }
  }

  #namedBlock(name: string): Render {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new TemplateError(`unexpected tag block ${name}`)
    const body = this.#closedBy('endblock')
    if (this.#blocks.has(name)) throw new TemplateError(`block ${name} is there twice`)
    this.#blocks.set(name, body)
    return (rendering, names) => rendering.block(name, names)
  }

  #expression(text: string): Expression {
    return this.#using(parseExpression(text, this.#budget))
  }

  #using({ value, names }: ParsedExpression): Expression {
    for (const name of names) if (!this.#made.some((made) => made.has(name))) this.#variables.add(name)
    return value
  }

  /** The tag at this position, if there is one. */
  #tag(): { name: string; rest: string } | undefined {
    const piece = this.#pieces[this.#at]
    return piece?.type === 'tag' ? tagOf(piece.text) : undefined
  }

  /** Requires this tag, without arguments, at this position. */
  #bare(name: string): void {
    const tag = this.#tag()
    if (tag?.name !== name || tag.rest !== '') throw new TemplateError(`${name} is missing`)
  }
}

function tagOf(text: string): { name: string; rest: string } {
  const [, name = '', rest = ''] = /^([A-Za-z]*)\s*([^]*)$/.exec(text) ?? []
  return { name, rest }
}
