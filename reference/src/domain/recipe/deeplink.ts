import { parseJsonDocument } from '../../wire/json/document.ts'
import { readShape } from '../../wire/json/shape.ts'
import { writtenRecipe, type Recipe } from './recipe.ts'

/**
 * The recipe of a link, or undefined for an invalid link. Two older servers made links in percent-encoded base64, with the
 * standard alphabet and padding.
 */
export function decodeDeeplink(link: string): Recipe | undefined {
  return readRecipe(link, 'base64url') ?? decodeOldLink(link)
}

function decodeOldLink(link: string): Recipe | undefined {
  let text: string
  try {
    text = decodeURIComponent(link)
  } catch {
    return undefined
  }
  return readRecipe(text, 'base64')
}

/** Accepts only the canonical form (RFC 4648 §3.5); Node itself decodes almost any text. */
function readRecipe(text: string, encoding: 'base64' | 'base64url'): Recipe | undefined {
  const bytes = Buffer.from(text, encoding)
  if (bytes.toString(encoding) !== text) return undefined
  try {
    const document = parseJsonDocument(bytes)
    return readShape(writtenRecipe, document.value, document)
  } catch {
    return undefined
  }
}
