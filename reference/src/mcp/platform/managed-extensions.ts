import type { ExtensionConfig } from '../../domain/extension/config.ts'
import type { ResourceServer } from '../client/connection.ts'

/** An extension that an agent has. */
export interface LoadedExtension {
  key: string
  config: ExtensionConfig
  resources: ResourceServer | undefined
}

/** The extensions of an agent, as its tools list and change them. */
export interface ManagedExtensions {
  /** In the order of their keys. */
  loaded: () => LoadedExtension[]
  /** Rejects with an ExtensionError. */
  add: (config: ExtensionConfig) => Promise<void>
  remove: (name: string) => Promise<void>
}
