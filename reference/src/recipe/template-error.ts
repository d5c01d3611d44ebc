/** Says that a template cannot be read, or not be rendered with these values. */
export class TemplateError extends Error {
  override readonly name: string = 'TemplateError'
}
