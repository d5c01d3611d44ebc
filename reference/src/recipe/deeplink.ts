import { parseJsonDocument } from '../json/document.ts'
import { readShape } from '../json/shape.ts'
import { stringifyJson } from '../json/stringify.ts'
import { writtenRecipe } from './recipe.ts'
import type { Recipe } from './recipe.ts'

/** The text of a link to a recipe: base64 with the URL-safe alphabet, without padding, of its compact JSON (GA 11.3). */
export function encodeDeeplink(linked: Recipe): string {
  return Buffer.from(stringifyJson(linked)).toString('base64url')
}

/**
 * The recipe of a link; undefined when it is none. Links of two older servers are percent-encoded base64 with the other
 * alphabet and padding.
 */
export function decodeDeeplink(link: string): Recipe | undefined {
  return (urlSafe.test(link) ? readRecipe(Buffer.from(link, 'base64url')) : undefined) ?? decodeOldLink(link)
}

function decodeOldLink(link: string): Recipe | undefined {
  let text: string
  try {
    text = decodeURIComponent(link)
  } catch {
    return undefined
  }
  return standard.test(text) ? readRecipe(Buffer.from(text, 'base64')) : undefined
}

const urlSafe = /^[A-Za-z0-9_-]+$/
const standard = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function readRecipe(bytes: Buffer): Recipe | undefined {
  try {
    const document = parseJsonDocument(bytes)
    return readShape(writtenRecipe, document.value, document)
  } catch {
    return undefined
  }
}
