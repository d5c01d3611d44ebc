/** At most 100 bytes of a client's text, for use in a message (S43). */
export function quoted(text: string): string {
  return truncate(text, 100)
}

/** The complete characters in the first bytes of a text, followed by `...` if the text is longer. */
export function truncate(text: string, maxBytes: number): string {
  if (3 * text.length <= maxBytes) return text // a UTF-16 unit has at most three bytes in UTF-8
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let end = maxBytes
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return `${bytes.subarray(0, end).toString()}...`
}

/** At most this many characters of a text. A longer text ends in `...`. */
export function shortened(text: string, maxCharacters: number): string {
  const characters = Array.from(text.slice(0, 2 * maxCharacters + 2)) // each character has at most two units
  return characters.length <= maxCharacters ? text : `${characters.slice(0, maxCharacters - 3).join('')}...`
}
