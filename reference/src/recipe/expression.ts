import { filters } from './filters.ts'
import { TemplateError } from './template-error.ts'

/** The value of a variable; undefined where there is none. */
export type Scope = (name: string) => unknown

/** A part of a template that has a value. Throws a TemplateError when it uses a variable that has none. */
export type Expression = (scope: Scope) => unknown

/** A text that has been read as an expression, and the variables that it uses. */
export interface ParsedExpression {
  value: Expression
  names: ReadonlySet<string>
}

/**
 * Reads an expression of the language of Jinja: variables, literals, members, filters, comparisons, `and`, `or`, `not`,
 * `in`, `~` and `is defined`. Throws a TemplateError when the text is none.
 */
export function parseExpression(text: string): ParsedExpression {
  const parser = new ExpressionParser(tokens(text))
  const value = parser.whole()
  return { value, names: parser.names }
}

/** What counts as true: everything but nothing. */
export function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** A value as it is written into a text. */
export function written(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null ? 'none' : JSON.stringify(value)
}

type Token = { type: 'name' | 'operator'; text: string } | { type: 'literal'; value: string | number }

const tokenPattern = /\s*(?:([A-Za-z_][A-Za-z0-9_]*)|(\d+(?:\.\d+)?)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(==|!=|<=|>=|[<>()[\].,|~]))/sy

function tokens(text: string): Token[] {
  const found: Token[] = []
  const end = text.trimEnd().length
  for (let at = 0; at < end; at = tokenPattern.lastIndex) {
    tokenPattern.lastIndex = at
    const match = tokenPattern.exec(text)
    if (match === null) throw new TemplateError(`unexpected character in ${JSON.stringify(text.trim())}`)
    const [, name, number, double, single, operator] = match
    if (name !== undefined) found.push({ type: 'name', text: name })
    else if (number !== undefined) found.push({ type: 'literal', value: Number(number) })
    else if (operator !== undefined) found.push({ type: 'operator', text: operator })
    else found.push({ type: 'literal', value: unescaped(double ?? single ?? '') })
  }
  return found
}

function unescaped(text: string): string {
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' }
  return text.replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character)
}

const keywords = new Set(['and', 'or', 'not', 'in', 'is'])
const constants = new Map<string, unknown>([
  ['true', true], ['True', true], ['false', false], ['False', false], ['none', null], ['None', null],
])

const comparisons: Record<string, (a: unknown, b: unknown) => boolean> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
}

function compare(a: unknown, b: unknown): number {
  if ((typeof a === 'string' && typeof b === 'string') || (typeof a === 'number' && typeof b === 'number')) {
    return a < b ? -1 : Number(a > b)
  }
  throw new TemplateError('values of different types are compared')
}

class ExpressionParser {
  readonly names = new Set<string>()
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  whole(): Expression {
    const value = this.#or()
    if (this.#at < this.#tokens.length) throw new TemplateError('unexpected text behind an expression')
    return value
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
    if (!this.#takes('name', 'not')) return this.#comparison()
    const value = this.#not()
    return (scope) => !isTrue(value(scope))
  }

  #comparison(): Expression {
    const left = this.#joined()
    for (const [operator, holds] of Object.entries(comparisons)) {
      if (!this.#takes('operator', operator)) continue
      const right = this.#joined()
      return (scope) => holds(left(scope), right(scope))
    }
    if (this.#takes('name', 'in')) return isIn(left, this.#joined())
    if (this.#takes('name', 'is')) return this.#test(left)
    if (this.#next('name', 'not') && this.#next('name', 'in', 1)) {
      this.#at += 2
      const found = isIn(left, this.#joined())
      return (scope) => found(scope) !== true
    }
    return left
  }

  /** `is defined` and its like. */
  #test(value: Expression): Expression {
    const negated = this.#takes('name', 'not')
    const name = this.#name()
    if (name === 'none') return (scope) => (value(scope) === null) !== negated
    if (name !== 'defined' && name !== 'undefined') throw new TemplateError(`there is no test ${name}`)
    return (scope) => isDefined(value, scope) === (name === 'defined') !== negated
  }

  #joined(): Expression {
    let left = this.#filtered()
    while (this.#takes('operator', '~')) {
      const [a, b] = [left, this.#filtered()]
      left = (scope) => written(a(scope)) + written(b(scope))
    }
    return left
  }

  #filtered(): Expression {
    let value = this.#member()
    while (this.#takes('operator', '|')) value = this.#filter(value)
    return value
  }

  #filter(value: Expression): Expression {
    const name = this.#name()
    const args = this.#takes('operator', '(') ? this.#arguments() : []
    if (name === 'default' || name === 'd') {
      const fallback = args[0] ?? (() => '')
      return (scope) => (isDefined(value, scope) ? value(scope) : fallback(scope))
    }
    const filter = filters.get(name)
    if (filter === undefined) throw new TemplateError(`there is no filter ${name}`)
    return (scope) => filter(value(scope), ...args.map((arg) => arg(scope)))
  }

  #arguments(): Expression[] {
    const args: Expression[] = []
    while (!this.#takes('operator', ')')) {
      if (args.length > 0) this.#expect(',')
      args.push(this.#or())
    }
    return args
  }

  #member(): Expression {
    let value = this.#primary()
    for (;;) {
      if (this.#takes('operator', '.')) {
        const name = this.#name()
        value = memberOf(value, () => name)
      } else if (this.#takes('operator', '[')) {
        const key = this.#or()
        this.#expect(']')
        value = memberOf(value, key)
      } else {
        return value
      }
    }
  }

  #primary(): Expression {
    if (this.#takes('operator', '(')) {
      const value = this.#or()
      this.#expect(')')
      return value
    }
    const token = this.#tokens[this.#at]
    if (token?.type === 'literal') {
      this.#at++
      return () => token.value
    }
    const name = this.#name()
    if (constants.has(name)) return () => constants.get(name)
    if (keywords.has(name)) throw new TemplateError(`unexpected ${name}`)
    this.names.add(name)
    return (scope) => {
      const value = scope(name)
      if (value === undefined) throw new UndefinedError(`undefined value: ${name}`)
      return value
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
    return Array.isArray(among) && among.includes(wanted)
  }
}

function memberOf(value: Expression, key: Expression): Expression {
  return (scope) => {
    const [container, name] = [value(scope), key(scope)]
    const own = typeof container === 'object' && container !== null && Object.hasOwn(container, written(name))
    if (!own) throw new UndefinedError(`undefined value: ${written(name)}`)
    return (container as Record<string, unknown>)[written(name)] // it has it
  }
}
