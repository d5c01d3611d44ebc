import type { InvalidRequestError, PermissionDeniedError, RateLimitedError as RateLimitedResponse } from '#contract'
import type { Logger } from '../../log.ts'
import type { Call } from './executions.ts'
import { UnusableSchemaError, compileParameters, type InputCheck } from './input-schema.ts'
import type { PermissionQuestions, QuestionEnd } from './permission-questions.ts'
import { decisionFor, type Decision, type PermissionRules } from './permission-rules.ts'
import type { RateLimit } from './rate-limit.ts'
import type { Registry } from './registry.ts'

/** The client of a session; undefined if there is no such session, or it has none (CT 10.1). */
export type ClientOfSession = (sessionID: string) => Promise<string | undefined>

export interface GuardDeps {
  registry: Registry
  questions: PermissionQuestions
  rateLimit: RateLimit
  permission: PermissionRules
  clientOfSession: ClientOfSession
  logger: Logger
}

/** Why a call must not run. */
export type Rejection =
  | { status: 400; body: InvalidRequestError }
  | { status: 403; body: PermissionDeniedError }
  | { status: 429; body: RateLimitedResponse }

/** How many compiled schemas are kept. */
const maxCompiled = 500

/**
 * Checks a call before its client gets it (CT 10). The checks come in this order: the owner of the session, a permission that is
 * denied, the input, the answer of the user, the rate limit. A rejected call publishes nothing.
 */
export class Guards {
  readonly #deps: GuardDeps
  /** Checks of inputs, by the definition that they come from. The one that was used last is at the end. */
  readonly #checks = new Map<object, InputCheck>()

  constructor(deps: GuardDeps) {
    this.#deps = deps
  }

  /** The decision of the configuration about a tool, by its full ID. */
  decisionFor(tool: string): Decision {
    return decisionFor(this.#deps.permission, tool)
  }

  /** The checks that need nobody. */
  async reject({ clientID, tool, sessionID, input }: Pick<Call, 'clientID' | 'tool' | 'sessionID' | 'input'>): Promise<Rejection | undefined> {
    const owner = sessionID === '' ? undefined : await this.#deps.clientOfSession(sessionID)
    if (owner !== undefined && owner !== clientID) return denied('Client does not own this session')
    if (this.decisionFor(tool) === 'deny') return denied('Client tools are not allowed for this agent')
    const violations = this.#check(clientID, tool)(input)
    if (violations.length === 0) return undefined
    const message = `The ${tool} tool was called with invalid arguments: ${violations.join('\n')}.\nPlease rewrite the input so it satisfies the expected schema.`
    return { status: 400, body: { error: { code: 'INVALID_REQUEST', message } } }
  }

  /** Asks the user, if that is configured. */
  async ask(call: Call, signal: AbortSignal): Promise<QuestionEnd> {
    return this.decisionFor(call.tool) === 'ask' ? this.#deps.questions.ask(call, signal) : 'once'
  }

  /** Counts a call that is about to run. */
  count(clientID: string): Rejection | undefined {
    if (this.#deps.rateLimit.take(clientID)) return undefined
    return { status: 429, body: { error: { code: 'RATE_LIMITED', message: 'Rate limit exceeded for client tools' } } }
  }

  #check(clientID: string, tool: string): InputCheck {
    const definition = this.#deps.registry.definition(clientID, tool)
    if (definition === undefined) return anything
    const known = this.#checks.get(definition.key)
    this.#checks.delete(definition.key)
    const check = known ?? this.#compile(tool, definition.parameters())
    this.#checks.set(definition.key, check)
    const [oldest] = this.#checks.keys()
    if (this.#checks.size > maxCompiled && oldest !== undefined) this.#checks.delete(oldest)
    return check
  }

  #compile(tool: string, parameters: Record<string, unknown>): InputCheck {
    try {
      return compileParameters(parameters)
    } catch (err) {
      if (!(err instanceof UnusableSchemaError)) throw err
      this.#deps.logger.warn('schema of a client tool is not usable, input not checked', { tool, err })
      return anything
    }
  }
}

const anything: InputCheck = () => []

/** The text of a rejected question (CT 10.2). */
export const rejectedByUser = 'The user rejected permission to use this specific tool call. You may try again with different parameters.'

export function denied(message: string): Extract<Rejection, { status: 403 }> {
  return { status: 403, body: { error: { code: 'PERMISSION_DENIED', message } } }
}
