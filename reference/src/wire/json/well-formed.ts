/** The text with U+FFFD in place of each unpaired surrogate, which UTF-8 cannot hold. */
export function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udfff]/gu, '\ufffd') // with `u`, a pair is one character
}

/** The same for the texts and keys in a JSON text of stringifyJson, which writes only unpaired surrogates as escapes. */
export function wellFormedJson(text: string): string {
  if (!text.includes('\\ud')) return text
  // The second alternative skips other escapes, such as `\\`.
  return text.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (escape) => (escape.length === 6 ? '\\ufffd' : escape))
}
