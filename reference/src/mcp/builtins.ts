import { extensionKey } from '../domain/extension/config.ts'
import type { ExtensionConfig } from '../domain/extension/config.ts'
import { ExtensionError } from './client/connection.ts'

const builtins = ['autovisualiser', 'computercontroller', 'developer', 'memory', 'tutorial']

/** Throws an ExtensionError for an extension of this type that the server cannot be, whatever else its config says. */
export function checkBuiltin({ type, name }: ExtensionConfig): void {
  if (type !== 'builtin') return
  const key = extensionKey(name)
  if (!builtins.includes(key)) throw new ExtensionError(`Unknown builtin extension: ${name}`)
  if (key !== 'developer') throw new ExtensionError(`Extension is not built on this server: ${name}`)
}
