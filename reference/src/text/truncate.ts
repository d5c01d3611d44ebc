/** A text that a client has sent, as messages have it: at most 100 bytes of it (S43). */
export function quoted(text: string): string {
  return truncate(text, 100)
}

/** The whole characters in the first bytes of a text, and `...` if that is not all of it. */
export function truncate(text: string, maxBytes: number): string {
  if (3 * text.length <= maxBytes) return text // no unit of UTF-16 has more bytes
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let end = maxBytes
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return `${bytes.subarray(0, end).toString()}...`
}
