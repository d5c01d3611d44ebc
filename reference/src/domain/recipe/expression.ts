import { stringifyJson } from '../../wire/json/stringify.ts'
import { maxLevels, type Budget } from './budget.ts'
import { UndefinedError, attempt, chain, link, type Link } from './chain.ts'
import { filters } from './filters.ts'
import { LimitError, TemplateError } from './template-error.ts'
import { tokensOf, type Token } from './expression-tokens.ts'
import { compareBytes } from '../../text/compare-bytes.ts'

/** The environment in which an expression is evaluated. */
export interface Scope {
  /** The value of a variable, or undefined for an unknown one. */
  lookup: (name: string) => unknown
  /** Counts steps, and bytes and items that are examined. Throws a LimitError if there are too many (G22). */
  look: (size: number) => void
}

/** A compiled expression. Throws a TemplateError if it uses a variable without a value. */
export type Expression = (scope: Scope) => unknown

/** A parsed expression, and the variables that it uses. */
export interface ParsedExpression {
  value: Expression
  names: ReadonlySet<string>
}

/** Parses an expression in the language of G20. Throws a TemplateError if the text is not an expression. */
export function parseExpression(text: string, budget: Budget): ParsedExpression {
  const parser = new ExpressionParser(tokensOf(text, budget.piece))
  const value = parser.whole()
  return { value, names: parser.names }
}

/** Whether a value counts as true: everything except empty values, 0 and false. */
export function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** A value as a template writes it, for example a list as `["a", 1]`. */
export function written(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? `[${value.map(stringifyJson).join(', ')}]` : stringifyJson(value)
}

const keywords = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else'])
const constants = new Map<string, unknown>([['true', true], ['false', false]])

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

const comparisons = new Map<string, (a: unknown, b: unknown) => boolean>([
  ['==', equal],
  ['!=', (a, b) => !equal(a, b)],
  ['<', (a, b) => compare(a, b) < 0],
  ['<=', (a, b) => compare(a, b) <= 0],
  ['>', (a, b) => compare(a, b) > 0],
  ['>=', (a, b) => compare(a, b) >= 0],
])

function equal(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b
  return a.length === b.length && a.every((element, i) => element === b[i])
}

function compare(a: unknown, b: unknown): number {
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : Number(a > b)
  // UTF-8 sorts in the order of code points. JavaScript compares strings in UTF-16, which does not.
  if (typeof a === 'string' && typeof b === 'string') return compareBytes(a, b)
  throw new TemplateError('only numbers and texts have an order')
}

class ExpressionParser {
  readonly names = new Set<string>()
  readonly #tokens: readonly Token[]
  #at = 0
  #levels = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  whole(): Expression {
    const value = this.#choice()
    if (this.#at < this.#tokens.length) throw new TemplateError('unexpected text behind an expression')
    return value
  }

  /** `a if c else b`, which has the lowest precedence. */
  #choice(): Expression {
    if (++this.#levels > maxLevels) throw new LimitError('an expression is nested too deep')
    const choice = this.#condition(this.#any())
    this.#levels--
    return choice
  }

  #condition(value: Expression): Expression {
    if (!this.#takes('name', 'if')) return value
    const when = this.#any()
    if (!this.#takes('name', 'else')) throw new TemplateError('else is missing')
    const otherwise = this.#choice()
    return (scope) => (isTrue(when(scope)) ? value(scope) : otherwise(scope))
  }

  /** Operands with this name or operator between them. */
  #parts(type: 'name' | 'operator', between: string, part: () => Expression): [Expression, ...Expression[]] {
    const parts: [Expression, ...Expression[]] = [part()]
    while (this.#takes(type, between)) parts.push(part())
    return parts
  }

  /** `or`: the first operand that is true, else the last one. */
  #any(): Expression {
    return firstOf(this.#parts('name', 'or', () => this.#all()), true)
  }

  /** `and`: the first operand that is false, else the last one. */
  #all(): Expression {
    return firstOf(this.#parts('name', 'and', () => this.#not()), false)
  }

  #not(): Expression {
    let negations = 0
    while (this.#takes('name', 'not')) negations++
    const value = this.#comparison()
    return negations === 0 ? value : (scope) => isTrue(value(scope)) !== (negations % 2 === 1)
  }

  /** Chained comparisons are evaluated from left to right. */
  #comparison(): Expression {
    const first = this.#joined()
    const links: Link<Scope>[] = []
    for (let next = this.#compared(); next !== undefined; next = this.#compared()) links.push(next)
    return chain(first, links)
  }

  /** The comparison with the right side, or undefined if no operator follows. */
  #compared(): Link<Scope> | undefined {
    const token = this.#tokens[this.#at]
    const holds = token?.type === 'operator' ? comparisons.get(token.text) : undefined
    if (holds !== undefined) {
      this.#at++
      const right = this.#joined()
      return link((left, scope) => counted(holds(left, right(scope)), scope))
    }
    if (this.#takes('name', 'in')) return isIn(this.#joined(), true)
    if (this.#takes('name', 'is')) return this.#test()
    if (!this.#next('name', 'not') || !this.#next('name', 'in', 1)) return undefined
    this.#at += 2
    return isIn(this.#joined(), false)
  }

  /** A test such as `is defined`. */
  #test(): Link<Scope> {
    const negated = this.#takes('name', 'not')
    const name = this.#name()
    if (name !== 'defined' && (negated || name !== 'undefined')) throw new TemplateError('there is no such test')
    const wanted = name === 'defined' && !negated
    return (left, scope) => ({ value: counted('value' in left === wanted, scope) })
  }

  #joined(): Expression {
    const parts = this.#parts('operator', '~', () => this.#filtered())
    const [only] = parts
    return parts.length === 1 ? only : (scope) => looked(parts.map((part) => looked(written(part(scope)), scope)).join(''), scope)
  }

  #filtered(): Expression {
    const first = this.#primary()
    const links: Link<Scope>[] = []
    while (this.#takes('operator', '|')) links.push(this.#filter())
    return chain(first, links)
  }

  #filter(): Link<Scope> {
    const name = this.#name()
    const args = this.#takes('operator', '(') ? this.#list(')') : []
    if (name === 'default') {
      const [fallback] = args
      if (fallback === undefined || args.length > 1) throw new TemplateError('default has one argument')
      return (left, scope) => ('error' in left ? attempt(() => fallback(scope)) : counted(left, scope))
    }
    const filter = filters.get(name)
    if (filter === undefined) throw new TemplateError('there is no such filter')
    if (args.length !== filter.args) throw new TemplateError(`${name} has ${filter.args} arguments`)
    return link((value, scope) => looked(filter.apply(scope.look, value, ...args.map((arg) => arg(scope))), scope))
  }

  /** Expressions separated by commas, up to a closing bracket. */
  #list(close: ')' | ']'): Expression[] {
    const items: Expression[] = []
    while (!this.#takes('operator', close)) {
      if (items.length > 0) this.#expect(',')
      items.push(this.#choice())
    }
    return items
  }

  #primary(): Expression {
    if (this.#takes('operator', '(')) {
      const value = this.#choice()
      this.#expect(')')
      return value
    }
    if (this.#takes('operator', '[')) {
      const items = this.#list(']')
      return (scope) => looked(items.map((item) => flat(item(scope))), scope)
    }
    const token = this.#tokens[this.#at]
    if (token?.type === 'literal') {
      this.#at++
      return (scope) => looked(token.value, scope)
    }
    const name = this.#name()
    if (constants.has(name)) return () => constants.get(name)
    if (keywords.has(name)) throw new TemplateError(`unexpected ${name}`)
    this.names.add(name)
    return (scope) => {
      const value = scope.lookup(name)
      if (value === undefined) throw new UndefinedError(`undefined value: ${name}`)
      return looked(value, scope)
    }
  }

  #next(type: 'name' | 'operator', text: string, ahead = 0): boolean {
    const token = this.#tokens[this.#at + ahead]
    return token?.type === type && token.text === text
  }

  #takes(type: 'name' | 'operator', text: string): boolean {
    const taken = this.#next(type, text)
    if (taken) this.#at++
    return taken
  }

  #expect(operator: string): void {
    if (!this.#takes('operator', operator)) throw new TemplateError(`${operator} is missing`)
  }

  #name(): string {
    const token = this.#tokens[this.#at]
    if (token?.type !== 'name') throw new TemplateError('a name is missing')
    this.#at++
    return token.text
  }
}

/** Lists cannot contain lists (G22). */
function flat(item: unknown): unknown {
  if (Array.isArray(item)) throw new TemplateError('a list in a list')
  return item
}

/** A value that a step has produced. Its size counts towards the budget. */
function looked<T>(value: T, { look }: Scope): T {
  look(1 + sizeOf(value))
  return value
}

/** The bytes of a text, or the items of a list (G22). */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return Array.isArray(value) ? value.reduce<number>((sum, item) => sum + 1 + sizeOf(item), 0) : 0
}

/** A value that a step has produced. Only the step counts towards the budget. */
function counted<T>(value: T, { look }: Scope): T {
  look(1)
  return value
}

/** The value of the first operand whose truth is `wanted`, else of the last one. */
function firstOf(parts: [Expression, ...Expression[]], wanted: boolean): Expression {
  const [only] = parts
  if (parts.length === 1) return only
  return (scope) => {
    let value: unknown
    for (const part of parts) {
      value = counted(part(scope), scope)
      if (isTrue(value) === wanted) break
    }
    return value
  }
}

function isIn(list: Expression, wanted: boolean): Link<Scope> {
  return link((item, scope) => {
    const among = counted(list(scope), scope)
    if (typeof among === 'string') return among.includes(written(item)) === wanted
    if (!Array.isArray(among)) throw new TemplateError('in needs a list or a text on its right')
    return among.includes(item) === wanted
  })
}
