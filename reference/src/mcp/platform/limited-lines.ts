const maxLines = 1000

/** Lines for a model, at most 1000 of them. */
export function limitedLines(lines: readonly string[]): string {
  return [...lines.slice(0, maxLines), ...(lines.length > maxLines ? ['[There are more.]'] : [])].join('\n')
}
