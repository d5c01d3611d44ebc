/** A template cannot be parsed, or cannot be rendered with these values. */
export class TemplateError extends Error {
  override readonly name: string = 'TemplateError'
}

/** A template exceeds its cost limits (G22). This error never makes a template count as plain text. */
export class LimitError extends TemplateError {}
