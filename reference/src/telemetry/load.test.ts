import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const source = join(import.meta.dirname, '..')

/** The files that a file loads, directly or through others, when it is loaded itself. Types and dynamic imports are not loaded. */
function loaded(file: string, seen = new Map<string, string[]>()): Map<string, string[]> {
  if (seen.has(file)) return seen
  const text = readFileSync(file, 'utf8')
  const names = [...text.matchAll(/^(?:import|export) (?!type )[^']*?from '([^']+)'/gm)].map(([, name = '']) => name)
  seen.set(file, names)
  for (const name of names.filter((one) => one.startsWith('.'))) loaded(join(dirname(file), name), seen)
  return seen
}

function loads(file: string): string[] {
  return [...loaded(join(source, file))].flatMap(([, names]) => names).filter((name) => name.startsWith('@opentelemetry/'))
}

it('a server without telemetry loads none of its libraries (T1)', () => {
  expect(loads('telemetry/sdk.ts')).toContain('@opentelemetry/sdk-trace')
  expect(loaded(join(source, 'main.ts')).size).toBeGreaterThan(100)
  expect(loads('main.ts')).toEqual([])
})
