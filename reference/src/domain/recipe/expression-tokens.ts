import { TemplateError } from './template-error.ts'

/** A name, an operator or a literal in an expression. */
export type Token = { type: 'name' | 'operator'; text: string } | { type: 'literal'; value: string | number | bigint }

const pattern = /\s*(?:([A-Za-z_][A-Za-z0-9_]*)|(\d+)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(==|!=|<=|>=|[<>()[\],|~]))/sy

/** Splits an expression into tokens, and calls `count` for each. Throws a TemplateError at anything that is not a token. */
export function tokensOf(text: string, count: () => void): Token[] {
  const found: Token[] = []
  const end = text.trimEnd().length
  for (let at = 0; at < end; at = pattern.lastIndex) {
    count()
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) throw new TemplateError('unexpected character in an expression')
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
  const significant = digits.replace(/^0+(?=\d)/, '')
  const exact = significant.length > 19 ? 2n ** 63n : BigInt(significant)
  if (exact >= 2n ** 63n) throw new TemplateError('a number is too large')
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

function unescaped(text: string): string {
  const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' }
  return text.replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character)
}
