import { statSync } from 'node:fs'
import { failedCall } from './call-error.ts'
import { absolutePath } from './ignore-rules.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { asText, parametersOf } from './parameters.ts'

const imageLimit = 10 * 1024 * 1024

/** `image_processor`, which this server has no decoders for: it takes every file for one that is no image (X40). */
export function openImage(given: Readonly<Record<string, unknown>>, rules: IgnoreRules): never {
  const path = allowedPath(given, rules)
  const size = sizeOf(path)
  if (size === undefined) throw failedCall(`File '${path}' does not exist`)
  if (size > imageLimit) throw failedCall(`File '${path}' is too large (${(size / 1024 / 1024).toFixed(2)}MB). Maximum size is 10MB.`)
  throw failedCall('Failed to open image file: not a PNG, JPEG, GIF or WebP image that can be read')
}

function allowedPath(given: Readonly<Record<string, unknown>>, rules: IgnoreRules): string {
  const { path } = parametersOf<{ path: string }, 'path'>(given, { path: asText }, ['path'])
  rules.check(path)
  return path
}

/** Undefined when nothing is there. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(absolutePath(path)).size
  } catch {
    return undefined
  }
}
