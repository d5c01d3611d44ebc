import type {
  CallRequest,
  ClientToolDefinition,
  ClientToolError,
  ClientToolResponse,
  ClientToolSuccess,
  ExecuteRequest,
  PermissionAnswer,
  ProgressRequest,
  RegisterRequest,
  SubmitResultRequest,
  UnregisterRequest,
} from '#contract'
import { MalformedBodyError } from '../../httpapi/errors.ts'
import { isObject } from '../../wire/json/is-object.ts'
import { maxTimeout } from './executions.ts'
import {
  array, byStatus, leaseSeconds, number, object, optional, permissionResponse, positive, record, string, type Schema,
} from './schema.ts'

/*
 * The schemas of the bodies. Fields are in the order in which their issues are reported (CT 3.5). Fields that are not
 * checked are missing: `sessionID` everywhere, and `attachments` of a result (CT 12, D8 and D29).
 */

const tool: Schema<ClientToolDefinition> = object({ id: string, description: string, parameters: record })

/** Numbers of client tools are doubles (CT 2.1). */
export type Registration = Omit<RegisterRequest, 'sessionID' | 'lease'> & { lease?: number }

export const registerRequest: Schema<Registration> = object({
  clientID: string,
  tools: array(tool),
  lease: optional(leaseSeconds),
})

/** The message of a socket whose client is known (CT 7). */
export const registerMessage: Schema<Pick<Registration, 'tools' | 'lease'>> = object({
  tools: array(tool),
  lease: optional(leaseSeconds),
})

export const unregisterRequest: Schema<Omit<UnregisterRequest, 'sessionID'>> = object({
  clientID: string,
  toolIDs: optional(array(string)),
})

export const unregisterMessage: Schema<Pick<UnregisterRequest, 'toolIDs'>> = object({ toolIDs: optional(array(string)) })

export const progressRequest: Schema<ProgressRequest> = object({
  requestID: string,
  progress: positive,
  total: optional(number),
  message: optional(string),
})

export const callRequest: Schema<CallRequest> = object({ requestID: string, tool: string, input: optional(record) })

export const permissionAnswer: Schema<PermissionAnswer> = object({ response: permissionResponse })

const anyString = string as Schema<never> // `byStatus` has already checked it

const success: Schema<Omit<ClientToolSuccess, 'attachments'>> = object({
  status: anyString,
  title: string,
  output: string,
  metadata: optional(record),
})

const failure: Schema<ClientToolError> = object({ status: anyString, error: string })

export const submitResultRequest: Schema<SubmitResultRequest> = object({
  requestID: string,
  result: byStatus<ClientToolResponse>(
    new Map<unknown, Schema<ClientToolResponse>>([
      ['success', success],
      ['error', failure],
    ]),
  ),
})

/**
 * A body of `/client-tools/execute`, with defaults for everything that may be missing (CT 4.4). If the request ID is empty, the
 * server makes one.
 */
type ExecuteFields = Required<NonNullable<ExecuteRequest>> & { timeout: number }

/**
 * Reads the body of `/client-tools/execute`. This operation reports no validation issues: every mistake is a MalformedBodyError
 * (CT 4.4). `null` counts as an empty object.
 */
export function readExecuteRequest(body: unknown, defaultTimeout: number): ExecuteFields {
  const fields = body ?? {}
  if (!isObject(fields)) throw new MalformedBodyError('the body is not an object')
  return {
    toolID: stringField(fields, 'toolID'),
    requestID: stringField(fields, 'requestID'),
    sessionID: stringField(fields, 'sessionID'),
    messageID: stringField(fields, 'messageID'),
    callID: stringField(fields, 'callID'),
    input: inputField(fields),
    timeout: timeoutField(fields, defaultTimeout),
  }
}

function stringField(fields: Record<string, unknown>, key: keyof ExecuteFields): string {
  const value = fields[key] === undefined ? '' : fields[key]
  if (typeof value !== 'string') throw new MalformedBodyError(`${key} is not a string`)
  return value
}

function inputField({ input = {} }: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(input)) throw new MalformedBodyError('input is not an object')
  return input
}

/** An integer by its value, in any notation; at most the longest delay of a timer (S9). */
function timeoutField({ timeout = 0 }: Record<string, unknown>, defaultTimeout: number): number {
  if (typeof timeout !== 'number' || !Number.isInteger(timeout)) {
    throw new MalformedBodyError('timeout is not an integer')
  }
  return timeout > 0 ? Math.min(timeout, maxTimeout) : defaultTimeout
}
