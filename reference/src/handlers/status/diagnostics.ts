import { constants } from 'node:fs'
import { lstat, open, readdir, stat } from 'node:fs/promises'
import { arch, release, type } from 'node:os'
import { basename, join } from 'node:path'
import type * as contract from '#contract'
import { Rendered, operation, type Operation } from '../../httpapi/operation.ts'
import { bytes } from '../../httpapi/response.ts'
import { prettyBytes } from '../../wire/json/stringify.ts'
import { isMissing } from '../../error-code.ts'
import { modelLogs, type Paths } from '../../settings/paths.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { version } from '../../version.ts'
import { Archive } from './archive.ts'

const maxLogs = 10
/** The most bytes of all entries together (G18). */
const maxSize = 256 * 1024 * 1024

export interface DiagnosticsDeps {
  store: SessionStore
  paths: Paths
}

/**
 * `GET /diagnostics/{session_id}` (GA 5.2): an archive, built in memory. Any failure is a 500. A session whose ID has control
 * characters is a 400, because the ID does not fit into a header. Only another program can have stored such a session.
 */
export function diagnostics(
  { store, paths }: DiagnosticsDeps,
): Operation<contract.GetDiagnosticsData, contract.GetDiagnosticsResponses, contract.GetDiagnosticsErrors> {
  return operation(async ({ path: { session_id: id }, errors }) => {
    const archive = await collect(id, store, paths).catch((cause: unknown) => {
      throw errors.bare(500, 'diagnostics not collected', { cause, isLogged: true })
    })
    if (/[\0-\x1f\x7f]/.test(id)) throw errors.bare(400, 'the ID of the session does not fit into a header')
    const disposition = `attachment; filename="diagnostics_${id}.zip"`
    // A Headers object takes one character for each byte.
    const headers = { 'Content-Disposition': Buffer.from(disposition).toString('latin1') }
    return new Rendered<contract.GetDiagnosticsResponse>(bytes(200, 'application/zip', archive, headers))
  })
}

async function collect(id: string, store: SessionStore, paths: Paths): Promise<Buffer<ArrayBuffer>> {
  const session = await store.load(id)
  if (session === undefined) throw new Error('there is no such session')
  const archive = new Archive(maxSize)
  const addFile = (name: string, directory: string): Promise<void> => addPlainFile(archive, name, join(directory, basename(name)))
  const logs = modelLogs(paths)
  for (const name of await newestLogs(logs)) await addFile(`logs/${name}`, logs)
  await archive.add('session.json', await prettyBytes(session))
  await addFile('config.yaml', paths.config)
  await archive.add('system.txt', [Buffer.from(systemText(new Date()))])
  await addFile('schedule.json', paths.data)
  await addFile('schedules.json', paths.data)
  const recipes = join(paths.data, 'scheduled_recipes')
  for (const name of await namesIn(recipes)) await addFile(`scheduled_recipes/${name}`, recipes)
  return archive.end()
}

async function newestLogs(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl')).map(({ name }) => name)
  const logs = await Promise.all(names.map(async (name) => ({ name, at: await modifiedAt(join(directory, name)) })))
  return logs
    .sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1))
    .slice(0, maxLogs)
    .map(({ name }) => name)
}

/** A file that was removed meanwhile counts as the oldest. */
async function modifiedAt(path: string): Promise<number> {
  return orIfMissing(stat(path).then(({ mtimeMs }) => mtimeMs), 0)
}

async function namesIn(directory: string): Promise<string[]> {
  return orIfMissing(readdir(directory), [])
}

async function orIfMissing<T>(result: Promise<T>, instead: T): Promise<T> {
  try {
    return await result
  } catch (error) {
    if (isMissing(error)) return instead
    throw error
  }
}

/** Adds a file if it exists and is a regular file. Opening a FIFO would block until it has a writer (G18). */
async function addPlainFile(archive: Archive, name: string, path: string): Promise<void> {
  const found = await orIfMissing(lstat(path), undefined)
  if (found?.isFile() !== true) return
  const file = await orIfMissing(open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK), undefined)
  if (file === undefined) return
  try {
    if ((await file.stat()).isFile()) await archive.add(name, file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) // no encoding is set
  } finally {
    await file.close()
  }
}

function systemText(now: Date): string {
  return [
    `App Version: ${version}`,
    `OS: ${type()}`,
    `OS Version: ${release()}`,
    `Architecture: ${arch()}`,
    `Timestamp: ${now.toISOString()}`,
  ].map((line) => `${line}\n`).join('')
}
