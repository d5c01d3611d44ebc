import { extensionKey, type ExtensionConfig } from '../domain/extension/config.ts'
import { ExtensionError } from './client/connection.ts'

const builtins = ['autovisualiser', 'computercontroller', 'developer', 'memory', 'tutorial']

/** Throws an ExtensionError if the server cannot run an extension of this type, whatever else its config contains. */
export function checkBuiltin({ type, name }: ExtensionConfig): void {
  if (type !== 'builtin') return
  const key = extensionKey(name)
  if (!builtins.includes(key)) throw new ExtensionError(`Unknown builtin extension: ${name}`)
  if (key !== 'developer') throw new ExtensionError(`Extension is not built on this server: ${name}`)
}
