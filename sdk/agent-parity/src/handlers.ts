// What tools, permission questions and hooks do, as a scenario says, and what they have seen.
import { type CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type HookJSONOutput, type PermissionResult } from '@anthropic-ai/claude-agent-sdk'

/** What every handler can do: release another one, then fail, or wait, or hold until it is released and go on. */
export interface Do { hold?: string; release?: string; error?: string; panic?: string; wait?: true }
export type DoTool = Do & {
  text?: string; add?: true
  content?: CallToolResult['content']; isError?: boolean; structuredContent?: Record<string, unknown>; meta?: Record<string, unknown>
}
export type DoPermission = Do & {
  /** The tool that it is for. All questions without an answer of their own go by their order. */
  for?: string
  allow?: true; input?: Record<string, unknown>; updates?: NonNullable<Extract<PermissionResult, { behavior: 'allow' }>['updatedPermissions']>
  deny?: string; interrupt?: boolean
}
export type DoHook = Do & { output?: HookJSONOutput }

/** What `seen` reports. */
export const seen = {
  calls: [] as object[], permissions: [] as object[], hooks: [] as object[], cancelled: [] as string[], stderr: '',
}

const gates = new Map<string, { open: () => void; opened: Promise<void> }>()

function gate(name: string): { open: () => void; opened: Promise<void> } {
  let found = gates.get(name)
  if (!found) {
    let open = (): void => undefined
    const opened = new Promise<void>((resolve) => { open = resolve })
    gates.set(name, (found = { open, opened }))
  }
  return found
}

/** Lets a handler with this name in `hold` go on, now or when it comes. */
export function release({ name }: { name: string }): void { gate(name).open() }

async function before(what: string, todo: Do, signal: AbortSignal): Promise<void> {
  if (todo.release !== undefined) release({ name: todo.release })
  if (todo.hold !== undefined || todo.wait) {
    const cancelled = new Promise<never>((_, reject) => {
      const cancel = (): void => { seen.cancelled.push(what); reject(new Error('cancelled')) }
      if (signal.aborted) cancel()
      else signal.addEventListener('abort', cancel, { once: true })
    })
    await (todo.wait ? cancelled : Promise.race([cancelled, gate(todo.hold ?? '').opened]))
  }
  if (todo.error !== undefined || todo.panic !== undefined) throw new Error(todo.error ?? todo.panic)
}

const text = (value: string): CallToolResult => ({ content: [{ type: 'text', text: value }] })

export async function runTool(
  server: string, tool: string, todo: DoTool, input: Record<string, unknown>,
  extra: { signal: AbortSignal; requestId: string | number; _meta?: Record<string, unknown> },
): Promise<CallToolResult> {
  seen.calls.push({ server, tool, input, toolUseID: extra._meta?.['claudecode/toolUseId'] ?? String(extra.requestId) })
  await before(`tool ${tool}`, todo, extra.signal)
  if (todo.text !== undefined) return text(todo.text)
  if (todo.add) return text(String(Number(input.a) + Number(input.b)))
  const { content = [], isError, structuredContent, meta } = todo
  return { content, ...(isError && { isError }), ...(structuredContent && { structuredContent }), ...(meta && { _meta: meta }) }
}

export async function runPermission(tool: string, todo: DoPermission, signal: AbortSignal): Promise<PermissionResult> {
  await before(`permission ${tool}`, todo, signal)
  if (todo.deny !== undefined) return { behavior: 'deny', message: todo.deny, ...(todo.interrupt && { interrupt: true }) }
  const { input, updates } = todo
  return { behavior: 'allow', ...(input && { updatedInput: input }), ...(updates && { updatedPermissions: updates }) }
}

export async function runHook(event: string, todo: DoHook, signal: AbortSignal): Promise<HookJSONOutput> {
  await before(`hook ${event}`, todo, signal)
  return todo.output ?? {}
}
