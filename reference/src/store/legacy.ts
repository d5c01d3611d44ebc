import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { documentInSlices } from '../wire/json/document.ts'
import { isObject } from '../wire/json/is-object.ts'
import { boolean, object, readShape, string, withDefault, type Shape } from '../wire/json/shape.ts'
import { TimeSlices } from '../wire/json/time-slices.ts'
import type { Logger } from '../log.ts'
import { message, visibleToBoth, type Message } from '../domain/message/message.ts'
import { modelFields, optionalFields, sessionTypes, type SessionType } from '../domain/session/session.ts'
import { entriesIn } from '../settings/directories.ts'
import { squeezed } from '../text/white-space.ts'
import { dateTime, inSeconds } from '../wire/date-time.ts'
import type { SessionRow } from './changes.ts'

/*
 * The session files of older versions: the first line is the session, and each further line is a message, all as JSON (GA 17.3,
 * G15).
 */

const ending = '.jsonl'
const maxFileBytes = 50 * 1024 * 1024
const LF = 0x0a

/** A session of an older version. */
interface LegacySession {
  row: SessionRow
  messages: Message[]
}

/** The sessions in a directory. Other files are skipped and logged. */
export async function* legacySessions(directory: string, logger: Logger): AsyncGenerator<LegacySession> {
  const files = entriesIn(directory).filter((entry) => entry.isFile())
  for (const { name } of files.filter((file) => file.name.endsWith(ending) && file.name !== ending)) {
    let session: LegacySession
    try {
      session = await readLegacy(join(directory, name))
    } catch (err) {
      logger.warn('old session not taken over', { file: name, err })
      continue
    }
    yield session
  }
}

async function readLegacy(path: string): Promise<LegacySession> {
  const found = await stat(path)
  if (found.size > maxFileBytes) throw new Error('the file is too large')
  const slices = new TimeSlices()
  let row: SessionRow | undefined
  const messages: Message[] = []
  for (const line of linesOf(await readFile(path))) {
    if (row === undefined) row = rowOf((await documentInSlices(line)).value, basename(path, ending), found)
    else messages.push(...(await messageOf(line)))
    await slices.yieldIfDue()
  }
  if (row === undefined) throw new Error('the file is empty, or no UTF-8')
  return { row, messages }
}

/** The lines before the first one that is not UTF-8. */
function* linesOf(bytes: Buffer): Generator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  for (let start = 0; start < bytes.length; ) {
    const lineFeed = bytes.indexOf(LF, start)
    const end = lineFeed === -1 ? bytes.length : lineFeed
    let line: string
    try {
      line = decoder.decode(bytes.subarray(start, end))
    } catch {
      return
    }
    yield line
    start = end + 1
  }
}

/** An unknown type counts as `user`. */
const knownType: Shape<SessionType> = (place) => sessionTypes.find((type) => type === place.value) ?? 'user'

const legacyRow: Shape<SessionRow> = object<SessionRow>({
  id: string,
  working_dir: withDefault(string, ''),
  name: string,
  user_set_name: withDefault(boolean, false),
  session_type: withDefault(knownType, 'user'),
  created_at: string,
  updated_at: string,
  extension_data: withDefault((place) => (isObject(place.value) ? place.value : {}), {}),
  ...optionalFields,
  ...modelFields,
})

/** The session in a first line. Missing and null fields get defaults. */
function rowOf(given: unknown, id: string, file: Stats): SessionRow {
  if (!isObject(given)) throw new Error('the first line is no object')
  const { name, description, created_at: created, ...rest } = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
  if (name === undefined && description === undefined) throw new Error('the session has no name')
  return readShape(legacyRow, {
    ...rest,
    id,
    name: squeezed(readShape(string, name ?? description)),
    created_at: secondOf(created) ?? birthOf(id, file),
    updated_at: inSeconds(file.mtime),
  })
}

function birthOf(id: string, { birthtimeMs, birthtime, mtime }: Stats): string {
  if (birthtimeMs > 0) return inSeconds(birthtime)
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)$/.exec(id) ?? []
  const [year, month = 1, ...others] = parts.map(Number)
  return inSeconds(year === undefined ? mtime : new Date(year, month - 1, ...others)) // the id is in local time
}

/** Empty for a line that is not a message. */
async function messageOf(line: string): Promise<Message[]> {
  try {
    const document = await documentInSlices(line)
    const { value } = document
    const whole = isObject(value) && !Object.hasOwn(value, 'metadata') ? { ...value, metadata: visibleToBoth } : value
    return [{ ...readShape(message, whole, document), id: null }]
  } catch {
    return []
  }
}

/** Undefined for a text that is not a date and time. */
function secondOf(value: unknown): string | undefined {
  try {
    return inSeconds(new Date(readShape(dateTime, value)))
  } catch {
    return undefined
  }
}
