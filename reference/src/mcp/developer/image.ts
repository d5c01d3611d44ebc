import { readFileSync, statSync, type Stats } from 'node:fs'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { failedCall } from './call-error.ts'
import { forModel, text } from './content.ts'
import { decodeImage, encodePng } from './decode-image.ts'
import { absolutePath, type IgnoreRules } from './ignore-rules.ts'
import { asText, parametersOf } from './parameters.ts'
import { scaledTo } from './pixels.ts'

const imageLimit = 10 * 1024 * 1024
const maxWidth = 768

/** The tool `image_processor` (X40). */
export function openImage(given: Readonly<Record<string, unknown>>, rules: IgnoreRules): CallToolResult {
  const path = allowedPath(given, rules)
  const found = statsOf(path)
  if (found === undefined) throw failedCall(`File '${path}' does not exist`)
  if (found.size > imageLimit) throw failedCall(`File '${path}' is too large (${(found.size / 1024 / 1024).toFixed(2)}MB). Maximum size is 10MB.`)
  const data = smallPng(path, found).toString('base64')
  return {
    content: [text(`Successfully processed image from ${path}`, forModel), { type: 'image', data, mimeType: 'image/png', annotations: { priority: 0 } }],
  }
}

function smallPng(path: string, found: Stats): Buffer {
  try {
    if (!found.isFile()) throw new Error('no file')
    return encodePng(scaledTo(maxWidth, decodeImage(readFileSync(absolutePath(path)))))
  } catch (error) {
    throw failedCall('Failed to open image file: not a PNG, JPEG, GIF or WebP image that can be read', error)
  }
}

function allowedPath(given: Readonly<Record<string, unknown>>, rules: IgnoreRules): string {
  const { path } = parametersOf<{ path: string }, 'path'>(given, { path: asText }, ['path'])
  rules.check(path)
  return path
}

/** Undefined if the path does not exist. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(absolutePath(path))
  } catch {
    return undefined
  }
}
