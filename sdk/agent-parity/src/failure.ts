// The SDK's errors, in the words that both drivers use.

export interface Failure { kind: string; exitCode?: number; signal?: string; code?: string }

/** What the SDK says of an error: its class, and what belongs to it. */
interface Said { message?: string; errorClass?: string; errorCode?: string; exitCode?: number; signal?: string; code?: string }

const kinds: Record<string, string> = {
  control_request_failed: 'protocol', error_result: 'error result', executable_launch_failed: 'connection', executable_not_found: 'not found',
  initialize_timeout: 'timeout', process_exited_nonzero: 'connection', process_killed_by_signal: 'connection',
}

/** Errors without a class: the input that the session has left, the exit without an answer, a CLI without a feature. */
const texts: [RegExp, string][] = [
  [/^Query closed before response received/, 'connection'],
  [/too old to read MCP servers|did not (apply|read) the MCP servers/, 'protocol'],
  [/^ProcessTransport is not ready|^Cannot write to/, 'connection'],
]

export function failure(error: unknown): Failure {
  const said: Said = typeof error === 'object' && error !== null ? error : { message: String(error) }
  const kind = kinds[said.errorClass ?? ''] ?? texts.find(([text]) => text.test(said.message ?? ''))?.[1] ?? 'other'
  const signal = /terminated by signal (SIG\w+)/.exec(said.message ?? '')?.[1]
  return {
    kind,
    ...(said.exitCode !== undefined && { exitCode: said.exitCode }),
    ...(signal !== undefined && { signal }),
    ...(said.errorCode !== undefined && { code: said.errorCode }),
  }
}
