import { TextError } from './goose-errors.ts'

/**
 * The values of these query parameters, undefined where there is none (GA 2.6, G10). Others are ignored. Throws a TextError
 * when one of them is repeated, or one that is required is missing.
 */
export function readQuery<R extends string, O extends string>(
  url: string,
  required: readonly R[],
  optional: readonly O[],
): Record<R, string> & Record<O, string | undefined> {
  const given = new Map<string, string[]>()
  for (const pair of new URL(url).search.slice(1).split('&')) {
    const [key = '', ...value] = pair.split('=')
    const name = decodeForm(key)
    given.set(name, [...(given.get(name) ?? []), decodeForm(value.join('='))])
  }
  const names = [...required, ...optional]
  const repeated = names.find((name) => (given.get(name)?.length ?? 0) > 1)
  if (repeated !== undefined) throw refused(`duplicate field \`${repeated}\``)
  const missing = required.find((name) => !given.has(name))
  if (missing !== undefined) throw refused(`missing field \`${missing}\``)
  const values = names.map((name) => [name, given.get(name)?.[0]])
  return Object.fromEntries(values) as Record<R, string> & Record<O, string | undefined> // none that is required is missing
}

function refused(reason: string): TextError {
  return new TextError(400, `Failed to deserialize query string: ${reason}`)
}

/** Decodes a form: `+` is a blank, bytes that are no UTF-8 are U+FFFD, and what is no escape stays as it is. */
function decodeForm(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'))
}
