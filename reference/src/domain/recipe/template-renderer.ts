import { maxLevels, type Budget } from './budget.ts'
import { written, type Expression, type Scope } from './expression.ts'
import { LimitError, TemplateError } from './template-error.ts'

/** A compiled part of a template. */
export type Render = (rendering: TemplateRenderer, names: Names) => string

/** A parsed template. */
export interface Template {
  /** The variables that the template uses but does not define. */
  variables: ReadonlySet<string>
  body: Render
  /** The blocks, which a template that extends this one may replace. */
  blocks: ReadonlyMap<string, Render>
  /** The name of the template that this one extends. */
  parent: Expression | undefined
}

/** Returns the text of a file that a template includes. Throws a TemplateError. */
export type Files = (name: string) => string

/** The names that have a value at one position of a template. */
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

  /** A nested scope with these values. */
  inside(values: Iterable<readonly [string, unknown]> = []): Names {
    return new Names(values, this.look, this)
  }

  set(name: string, value: unknown): void {
    this.#values.set(name, value)
  }
}

/** Renders the texts of one recipe. It keeps the budget and the blocks in effect. */
export class TemplateRenderer {
  readonly budget: Budget
  readonly #parse: (text: string, budget: Budget) => Template
  readonly #files: Files
  #levels = 0
  /** The blocks in effect. Blocks of a template that extends another one take precedence. */
  #blocks = new Map<string, Render>()

  constructor(parse: (text: string, budget: Budget) => Template, budget: Budget, files: Files = noFiles) {
    this.#parse = parse
    this.budget = budget
    this.#files = files
  }

  /** Renders the templates in a text. */
  text(text: string, values: ReadonlyMap<string, unknown>): string {
    if (!text.includes('{')) return this.budget.write(text)
    return this.render(this.#parse(text, this.budget), new Names(values, this.budget.look))
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

  /** Renders the template or, if it extends another one, that one with the blocks of this template. */
  #extended(template: Template, names: Names): string {
    const { body, parent } = template
    if (parent === undefined) return this.#deeper(() => body(this, names))
    this.#deeper(() => body(this, names)) // renders the body only for the names that it sets
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

  #file(name: string): Template {
    this.budget.file()
    return this.#parse(this.#files(name), this.budget)
  }

  #deeper(write: () => string): string {
    if (++this.#levels > maxLevels) throw new LimitError('files and blocks are nested too deep')
    this.budget.piece()
    try {
      return write()
    } finally {
      this.#levels--
    }
  }
}

function noFiles(name: string): never {
  throw new TemplateError(`there is no file ${name}`)
}
