import type { Dirent } from 'node:fs'

const maxLines = 1000

/** Lines that a model reads, at most 1000 of them. */
export function limitedLines(lines: readonly string[]): string {
  return [...lines.slice(0, maxLines), ...(lines.length > maxLines ? ['[There are more.]'] : [])].join('\n')
}

/** The names in a directory, one to a line, in the order of their bytes; directories with a slash (X18). */
export function listedNames(entries: readonly Dirent[]): string {
  const sorted = entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
  return limitedLines(sorted.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)))
}
