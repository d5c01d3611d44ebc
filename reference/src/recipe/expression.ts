import { stringifyJson } from '../json/stringify.ts'
import { filters } from './filters.ts'
import { TemplateError } from './template-error.ts'

/** The value of a variable; undefined where there is none. */
export type Lookup = (name: string) => unknown

/** What an expression sees. */
export interface Scope {
  lookup: Lookup
  /** Counts bytes and items that are looked at. Throws a TemplateError when they are too many (G22). */
  look: (size: number) => void
}

/** A part of a template that has a value. Throws a TemplateError when it uses a variable that has none. */
export type Expression = (scope: Scope) => unknown

/** A text that has been read as an expression, and the variables that it uses. */
export interface ParsedExpression {
  value: Expression
  names: ReadonlySet<string>
}

/** How deep expressions, tags and files may lie in one another (G22). */
export const maxLevels = 200

/** Reads an expression in the language of G20. Throws a TemplateError when the text is none. */
export function parseExpression(text: string): ParsedExpression {
  const parser = new ExpressionParser(tokens(text))
  const value = parser.whole()
  return { value, names: parser.names }
}

/** What counts as true: everything but what is empty, 0 and false. */
export function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** A value as it is written into a text: a list as `["a", 1]`. */
export function written(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? `[${value.map(stringifyJson).join(', ')}]` : stringifyJson(value)
}

type Token = { type: 'name' | 'operator'; text: string } | { type: 'literal'; value: string | number | bigint }

const tokenPattern = /\s*(?:([A-Za-z_][A-Za-z0-9_]*)|(\d+)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(==|!=|<=|>=|[<>()[\],|~]))/sy

function tokens(text: string): Token[] {
  const found: Token[] = []
  const end = text.trimEnd().length
  for (let at = 0; at < end; at = tokenPattern.lastIndex) {
    tokenPattern.lastIndex = at
    const match = tokenPattern.exec(text)
    if (match === null) throw new TemplateError(`unexpected character in ${JSON.stringify(text.trim())}`)
    const [, name, number, double, single, operator] = match
    if (name !== undefined) found.push({ type: 'name', text: name })
    else if (number !== undefined) found.push({ type: 'literal', value: wholeNumber(number) })
    else if (operator !== undefined) found.push({ type: 'operator', text: operator })
    else found.push({ type: 'literal', value: unescaped(double ?? single ?? '') })
  }
  return found
}

/** Numbers have at most 64 bits. */
function wholeNumber(digits: string): number | bigint {
  const exact = BigInt(digits)
  if (exact >= 2n ** 63n) throw new TemplateError(`${digits} is too large`)
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

function unescaped(text: string): string {
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' }
  return text.replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character)
}

const keywords = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else'])
const constants = new Map<string, unknown>([['true', true], ['false', false]])

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

const comparisons: Record<string, (a: unknown, b: unknown) => boolean> = {
  '==': equal,
  '!=': (a, b) => !equal(a, b),
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
}

function equal(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b
  return a.length === b.length && a.every((element, i) => element === b[i])
}

function compare(a: unknown, b: unknown): number {
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : Number(a > b)
  // UTF-8 has the order of code points; UTF-16, in which strings are compared, has not.
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
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

  /** `a if c else b`, the weakest of all. */
  #choice(): Expression {
    if (++this.#levels > maxLevels) throw new TemplateError('an expression is nested too deep')
    const value = this.#or()
    this.#levels--
    if (!this.#takes('name', 'if')) return value
    const when = this.#or()
    if (!this.#takes('name', 'else')) throw new TemplateError('else is missing')
    const otherwise = this.#choice()
    return (scope) => (isTrue(when(scope)) ? value(scope) : otherwise(scope))
  }

  #or(): Expression {
    let left = this.#and()
    while (this.#takes('name', 'or')) {
      const [a, b] = [left, this.#and()]
      left = (scope) => {
        const value = a(scope)
        return isTrue(value) ? value : b(scope)
      }
    }
    return left
  }

  #and(): Expression {
    let left = this.#not()
    while (this.#takes('name', 'and')) {
      const [a, b] = [left, this.#not()]
      left = (scope) => {
        const value = a(scope)
        return isTrue(value) ? b(scope) : value
      }
    }
    return left
  }

  #not(): Expression {
    let negations = 0
    while (this.#takes('name', 'not')) negations++
    const value = this.#comparison()
    return negations === 0 ? value : (scope) => isTrue(value(scope)) !== (negations % 2 === 1)
  }

  /** Comparisons of one another are made from left to right. */
  #comparison(): Expression {
    let left = this.#joined()
    for (let next = this.#compared(left); next !== undefined; next = this.#compared(left)) left = next
    return left
  }

  /** The comparison with what is on the right; undefined when there is none. */
  #compared(left: Expression): Expression | undefined {
    for (const [operator, holds] of Object.entries(comparisons)) {
      if (!this.#takes('operator', operator)) continue
      const right = this.#joined()
      return (scope) => holds(left(scope), right(scope))
    }
    if (this.#takes('name', 'in')) return isIn(left, this.#joined())
    if (this.#takes('name', 'is')) return this.#test(left)
    if (!this.#next('name', 'not') || !this.#next('name', 'in', 1)) return undefined
    this.#at += 2
    const found = isIn(left, this.#joined())
    return (scope) => found(scope) !== true
  }

  /** `is defined` and its like. */
  #test(value: Expression): Expression {
    const negated = this.#takes('name', 'not')
    const name = this.#name()
    if (name !== 'defined' && (negated || name !== 'undefined')) throw new TemplateError(`there is no test ${name}`)
    return (scope) => isDefined(value, scope) === (name === 'defined' && !negated)
  }

  #joined(): Expression {
    let left = this.#filtered()
    while (this.#takes('operator', '~')) {
      const [a, b] = [left, this.#filtered()]
      left = (scope) => looked(written(a(scope)) + written(b(scope)), scope)
    }
    return left
  }

  #filtered(): Expression {
    let value = this.#primary()
    while (this.#takes('operator', '|')) value = this.#filter(value)
    return value
  }

  #filter(value: Expression): Expression {
    const name = this.#name()
    const args = this.#takes('operator', '(') ? this.#list(')') : []
    if (name === 'default') {
      const [fallback] = args
      if (fallback === undefined || args.length > 1) throw new TemplateError('default has one argument')
      return (scope) => {
        try {
          return value(scope)
        } catch (error) {
          if (error instanceof UndefinedError) return fallback(scope)
          throw error
        }
      }
    }
    const filter = filters.get(name)
    if (filter === undefined) throw new TemplateError(`there is no filter ${name}`)
    if (args.length !== filter.args) throw new TemplateError(`${name} has ${filter.args} arguments`)
    return (scope) => looked(filter.apply(scope.look, value(scope), ...args.map((arg) => arg(scope))), scope)
  }

  /** Expressions with commas between them, up to a bracket that closes. */
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

/** Lists hold no lists (G22). */
function flat(item: unknown): unknown {
  if (Array.isArray(item)) throw new TemplateError('a list in a list')
  return item
}

/** The value, which counts as looked at. */
function looked<T>(value: T, { look }: Scope): T {
  look(sizeOf(value))
  return value
}

/** Bytes of texts, and items of lists (G22). */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return Array.isArray(value) ? value.reduce<number>((sum, item) => sum + 1 + sizeOf(item), 0) : 0
}

class UndefinedError extends TemplateError {}

function isDefined(value: Expression, scope: Scope): boolean {
  try {
    value(scope)
    return true
  } catch (error) {
    if (error instanceof UndefinedError) return false
    throw error
  }
}

function isIn(item: Expression, list: Expression): Expression {
  return (scope) => {
    const [wanted, among] = [item(scope), list(scope)]
    if (typeof among === 'string') return among.includes(written(wanted))
    if (!Array.isArray(among)) throw new TemplateError('in needs a list or a text on its right')
    return among.includes(wanted)
  }
}
