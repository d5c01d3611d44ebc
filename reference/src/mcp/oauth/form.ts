/** A form as WHATWG encodes it, with its fields in alphabetical order. */
export function formOf(fields: Readonly<Record<string, string>>): string {
  const form = new URLSearchParams(fields)
  form.sort()
  return form.toString()
}

/** A text as the value of a field. */
export function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}
