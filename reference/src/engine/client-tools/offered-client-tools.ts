import { createHash } from 'node:crypto'
import type { McpTool } from '../../domain/extension/config.ts'
import { clientOf } from '../../domain/session/session-client.ts'
import type { Logger } from '../../log.ts'
import type { SessionHandle } from '../../store/session-handle.ts'
import type { ClientTool, ClientTools } from './client-tools.ts'

/** The tool names that providers accept. They reject the whole request if a name does not match (M70). */
const offeredName = /^[A-Za-z0-9_-]{1,64}$/

export function isOfferedName(name: string): boolean {
  return offeredName.test(name)
}

/** The extension of client tools, where the name of one is needed (S74). */
export const clientToolsExtension = 'client_tools'

export interface OfferedClientTool {
  tool: ClientTool
  /** The tool as the model sees it. */
  shown: McpTool
}

/**
 * The tools of a session's client, in registry order, under the names by which its model is offered them. A tool whose name another
 * tool already has is left out (CT 11.6 item 2, S73).
 */
export function offeredClientTools(session: SessionHandle, clientTools: ClientTools, others: Iterable<string>, logger: Logger): OfferedClientTool[] {
  const row = session.find()
  const clientID = row && clientOf(row)
  if (clientID === undefined) return []
  const names = new Set(others)
  const offered: OfferedClientTool[] = []
  const withheld: string[] = []
  for (const [shortName, { id, description, parameters }] of clientTools.list(clientID)) {
    const name = nameFor(id, shortName)
    if (names.has(name)) withheld.push(id)
    else offered.push({ tool: { clientID, id, name }, shown: { name, description, inputSchema: parameters } })
    names.add(name)
  }
  if (withheld.length > 0) {
    logger.warn('client tools not offered', { session: session.id, count: withheld.length, first: withheld[0]?.slice(0, 100) })
  }
  return offered
}

/** The full ID if providers accept it as a name, else an alias. */
function nameFor(id: string, shortName: string): string {
  if (isOfferedName(id)) return id
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 10)
  return `ct_${hash}_${shortName.replace(/[^A-Za-z0-9_-]/gu, '_')}`.slice(0, 64)
}
