import { ExtensionError } from '../client/connection.ts'
import { redactError } from '../client/redact-error.ts'

/** What went wrong, in the words for clients (X59). */
type Reason =
  | 'the secrets cannot be read'
  | 'too many sign-ins'
  | 'no authorization server found'
  | 'the token cannot be refreshed'
  | 'no port for the answer'
  | 'no answer within 300 s'
  | 'the authorization server refused it'
  | 'the answer is not for this sign-in'
  | 'no token for the code'
  | 'the secrets cannot be written'

/** A sign-in has failed. Its cause is redacted: the messages of libraries may contain URLs. */
export class SignInError extends ExtensionError {
  constructor(reason: Reason, cause?: unknown) {
    super(`Sign-in failed: ${reason}`, cause === undefined ? {} : { cause: redactError(cause) })
  }
}
