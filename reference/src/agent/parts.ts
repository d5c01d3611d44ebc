import type { McpTool } from '../extensions/config.ts'
import type { ModelConfig } from '../sessions/session.ts'

/*
 * What an agent is made of, as far as those need it who keep agents. Replies know more of these parts than is said here.
 */

/** Answers for a model. */
export interface Provider {
  readonly name: string
  readonly config: ModelConfig
}

/** What an agent has connected to. */
export interface Extensions {
  /** The tools of each extension by its normalised key, without the prefix. Rejects when one of them cannot be asked. */
  tools: () => Promise<Map<string, McpTool[]>>
  /** Ends all connections. */
  close: () => Promise<void>
}

/** The parts that an agent is made with. */
export interface AgentParts {
  extensions: Extensions
}

/** Parts of an agent that cannot do anything. */
export const noParts: AgentParts = {
  extensions: { tools: () => Promise.resolve(new Map()), close: () => Promise.resolve() },
}
