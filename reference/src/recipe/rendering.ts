import { maxLevels, written } from './expression.ts'
import type { Scope } from './expression.ts'
import { TemplateError } from './template-error.ts'
import type { Render, Template } from './template.ts'

/** Gives the text of a file that a template names. Throws a TemplateError. */
export type Files = (name: string) => string

/** The names that have a value at some place of a template. */
export class Names implements Scope {
  readonly look: (size: number) => void
  readonly #values: Map<string, unknown>
  readonly #around: Names | undefined

  constructor(values: Iterable<readonly [string, unknown]>, look: (size: number) => void, around?: Names) {
    this.#values = new Map(values)
    this.look = look
    this.#around = around
  }

  readonly lookup = (name: string): unknown =>
    this.#values.has(name) ? this.#values.get(name) : this.#around?.lookup(name)

  /** Names of their own for what lies inside. */
  inside(values: Iterable<readonly [string, unknown]> = []): Names {
    return new Names(values, this.look, this)
  }

  set(name: string, value: unknown): void {
    this.#values.set(name, value)
  }
}

/** What one rendering may cost (G22). */
const maxPieces = 100_000
const maxBytes = 10 * 1024 * 1024
const maxFiles = 100
const maxLooked = 10_000_000

/** The writing of one recipe: what it has cost so far, and which blocks count. */
export class Rendering {
  readonly #parse: (text: string) => Template
  readonly #files: Files
  #pieces = 0
  #read = 0
  #looked = 0
  #levels = 0
  /** The blocks of the template that is written, those of templates that extend it before its own. */
  #blocks = new Map<string, Render>()

  constructor(parse: (text: string) => Template, files: Files = noFiles) {
    this.#parse = parse
    this.#files = files
  }

  /** Counts what expressions look at. */
  readonly look = (size: number): void => {
    this.#looked += size
    if (this.#looked > maxLooked) throw new TemplateError('the expressions look at too much')
  }

  render(template: Template, names: Names): string {
    const around = this.#blocks
    this.#blocks = new Map(template.blocks)
    try {
      return this.#extended(template, names)
    } finally {
      this.#blocks = around
    }
  }

  /** The template, or the one that it extends with the blocks of this one in their places. */
  #extended(template: Template, names: Names): string {
    const { body, parent } = template
    if (parent === undefined) return this.#deeper(() => body(this, names))
    this.#deeper(() => body(this, names)) // for the names that it sets
    const base = this.#file(written(parent(names)))
    this.#blocks = new Map([...base.blocks, ...this.#blocks])
    return this.#deeper(() => this.#extended(base, names))
  }

  include(name: string, names: Names): string {
    const template = this.#file(name)
    return this.#deeper(() => this.render(template, names.inside()))
  }

  block(name: string, names: Names): string {
    return this.#deeper(() => this.#blocks.get(name)?.(this, names.inside()) ?? '')
  }

  /** Counts a piece that has been written. */
  count(text: string): string {
    if (++this.#pieces > maxPieces) throw new TemplateError('the template has too many pieces')
    if (text.length > maxBytes) throw new TemplateError('the text is too large')
    return text
  }

  #file(name: string): Template {
    if (++this.#read > maxFiles) throw new TemplateError('the template reads too many files')
    return this.#parse(this.#files(name))
  }

  #deeper(write: () => string): string {
    if (++this.#levels > maxLevels) throw new TemplateError('files and blocks are nested too deep')
    try {
      return this.count(write())
    } finally {
      this.#levels--
    }
  }
}

function noFiles(name: string): never {
  throw new TemplateError(`there is no file ${name}`)
}
