/** Says that a template cannot be read, or not be rendered with these values. */
export class TemplateError extends Error {
  override readonly name: string = 'TemplateError'
}

/** Says that a template costs more than it may (G22). It is never taken for text that is no expression. */
export class LimitError extends TemplateError {}
