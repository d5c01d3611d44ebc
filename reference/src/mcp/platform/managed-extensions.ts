import type { ExtensionConfig } from '../../domain/extension/config.ts'
import type { ResourceServer } from '../client/connection.ts'

/** An extension of an agent. */
export interface LoadedExtension {
  key: string
  config: ExtensionConfig
  resources: ResourceServer | undefined
}

/** The extensions of an agent, for tools that list and change them. */
export interface ManagedExtensions {
  /** Sorted by key. */
  loaded: () => LoadedExtension[]
  /** Rejects with an ExtensionError, or with the reason of the signal. */
  add: (config: ExtensionConfig, signal: AbortSignal) => Promise<void>
  remove: (name: string) => Promise<void>
}
