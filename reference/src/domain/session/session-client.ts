import { isObject } from '../../wire/json/is-object.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import type { Session } from './session.ts'

/** The member of a session's `extension_data` that names its client (CT 11.6). */
const key = 'client_tools.v0'

/** The `extension_data` of a new session with this client. */
export function clientData(clientID: string): JsonObject {
  return { [key]: { clientID } }
}

/** The client whose tools the model of a session is offered. Anything but a text that is not empty counts as none (S72). */
export function clientOf({ extension_data: data }: Pick<Session, 'extension_data'>): string | undefined {
  const entry = data[key]
  const clientID = isObject(entry) ? entry.clientID : undefined
  return typeof clientID === 'string' && clientID !== '' ? clientID : undefined
}
