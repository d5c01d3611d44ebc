import { closeSync, rmSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entriesIn } from './settings/directories.ts'
import { makeDirectory, openPrivate } from './settings/private-files.ts'

/** The most bytes of the file. */
const maxBytes = 16 * 1024 * 1024
const keptDays = 14
const full = `${JSON.stringify({ level: 'warn', msg: 'log file full, further lines are only on standard error' })}\n`

/** The server's log file, one for each run (GA 1.3, S47). */
export class LogFile {
  #file: number | undefined
  #bytes = 0
  readonly #complain: (why: string) => void

  /** Opens the file in the directory of the current day. If that or a write fails, `complain` is called once. */
  constructor(directory: string, now: Date, complain: (why: string) => void) {
    this.#complain = complain
    const [day = '', time = ''] = now.toISOString().split(/[T.]/)
    try {
      removeOld(directory, now)
      makeDirectory(join(directory, day))
      this.#file = openPrivate(join(directory, day, `${time.replaceAll(':', '')}-${process.pid}.log`), 'a')
    } catch (error) {
      this.#fail(error)
    }
  }

  write(line: string): void {
    if (this.#file === undefined) return
    const bytes = Buffer.from(line)
    const isFull = this.#bytes + bytes.length + full.length > maxBytes
    try {
      writeFileSync(this.#file, isFull ? full : bytes)
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#bytes += bytes.length
    if (isFull) this.#close()
  }

  #fail(error: unknown): void {
    this.#close()
    this.#complain(error instanceof Error ? error.message : String(error))
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}

/** Removes old logs of other days, and directories that become empty. */
function removeOld(directory: string, now: Date): void {
  const oldest = now.getTime() - keptDays * 24 * 60 * 60 * 1000
  for (const { name: day } of entriesIn(directory).filter(({ name }) => /^\d{4}-\d\d-\d\d$/.test(name))) {
    const folder = join(directory, day)
    for (const { name } of entriesIn(folder).filter(({ name }) => name.endsWith('.log'))) {
      const path = join(folder, name)
      if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? oldest) < oldest) rmSync(path, { force: true })
    }
    if (entriesIn(folder).length === 0) rmdirSync(folder)
  }
}
