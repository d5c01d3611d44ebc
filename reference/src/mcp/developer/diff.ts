import { invalidCall } from './call-error.ts'

/** One hunk of a diff: the old lines, and the lines that replace them. */
interface Hunk {
  /** The index of the line before which it begins. */
  at: number
  old: string[]
  /** A text for each new line, and the index of the old line for each line that stays. */
  new: (string | number)[]
}

/** The diff of one file. */
export interface FileDiff {
  name: string
  isNew: boolean
  hunks: Hunk[]
}

export interface Diff {
  files: FileDiff[]
  added: number
  removed: number
}

const maxBytes = 1 << 20
const maxFiles = 100
const nowhere = '/dev/null'

/** Parses a unified diff. Throws a RpcError for anything else (X41). */
export function parseDiff(diff: string): Diff {
  const bytes = Buffer.byteLength(diff)
  if (bytes > maxBytes) throw invalidCall(`Diff is too large (${bytes} bytes). Maximum size is ${maxBytes} bytes (1MB).`)
  const reader = new DiffReader(diff.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)))
  const files = reader.files()
  if (files.length > maxFiles) throw invalidCall(`Diff names too many files (${files.length}). Maximum is ${maxFiles}.`)
  return { files, added: reader.added, removed: reader.removed }
}

class DiffReader {
  added = 0
  removed = 0
  readonly #lines: readonly string[]
  #at = 0

  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  files(): FileDiff[] {
    const files: FileDiff[] = []
    for (; this.#at < this.#lines.length; this.#at++) {
      const [from, to] = [nameIn(this.#lines[this.#at], '--- '), nameIn(this.#lines[this.#at + 1], '+++ ')]
      if (from === undefined || to === undefined) continue
      this.#at += 2
      files.push({ name: to, isNew: from === nowhere, hunks: this.#hunks() })
      this.#at-- // the line that ended the hunks may begin the next file
    }
    if (files.length === 0) throw noDiff()
    return files
  }

  #hunks(): Hunk[] {
    const hunks: Hunk[] = []
    for (let head = this.#head(); head !== undefined; head = this.#head()) {
      this.#at++
      hunks.push(this.#body(head))
    }
    if (hunks.length === 0) throw noDiff()
    return hunks
  }

  #head(): Head | undefined {
    const [, start, old = '1', , added = '1'] = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(this.#lines[this.#at] ?? '') ?? []
    return start === undefined ? undefined : { start: Number(start), old: Number(old), new: Number(added) }
  }

  /** Reads as many lines as the hunk's head says. */
  #body(head: Head): Hunk {
    const hunk: Hunk = { at: head.old === 0 ? head.start : Math.max(head.start - 1, 0), old: [], new: [] }
    while (hunk.old.length < head.old || hunk.new.length < head.new) {
      const line = this.#lines[this.#at++]
      if (line === undefined) throw noDiff()
      this.#take(line, hunk)
    }
    while (this.#lines[this.#at]?.startsWith('\\') === true) this.#at++
    if (hunk.old.length !== head.old || hunk.new.length !== head.new) throw noDiff()
    return hunk
  }

  #take(line: string, hunk: Hunk): void {
    const rest = line.slice(1)
    switch (line.charAt(0)) {
      case '': // an empty context line without its blank
      case ' ':
        hunk.new.push(hunk.old.push(rest) - 1)
        return
      case '-':
        this.removed++
        hunk.old.push(rest)
        return
      case '+':
        this.added++
        hunk.new.push(rest)
        return
      case '\\': // No newline at end of file
        return
      default:
        throw noDiff()
    }
  }
}

interface Head {
  /** The number of the first old line, counted from 1. If the hunk only adds lines, the number of the line before them. */
  start: number
  old: number
  new: number
}

/** The name in a header line, without the date and the prefixes `a/` and `b/`. */
function nameIn(line: string | undefined, mark: string): string | undefined {
  if (line?.startsWith(mark) !== true) return undefined
  const [name = ''] = line.slice(mark.length).split('\t')
  return name.replace(/^[ab]\//, '')
}

function noDiff(): Error {
  return invalidCall("The 'diff' parameter must be in unified diff format, with lines --- and +++ and hunks")
}

/** Applies hunks to a text, and keeps its line ends; undefined if a hunk does not fit (X41). */
export function patched(text: string, hunks: readonly Hunk[]): string | undefined {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const bare = lines.map((line) => line.replace(/\r?\n$/, ''))
  const lineEnd = lines[0]?.endsWith('\r\n') === true ? '\r\n' : '\n'
  const result: string[] = []
  let [done, moved] = [0, 0]
  for (const hunk of hunks) {
    const at = placeOf(hunk, bare, hunk.at + moved, done)
    if (at === undefined) return undefined
    moved = at - hunk.at
    result.push(...lines.slice(done, at), ...changed(hunk, lines.slice(at, at + hunk.old.length), lineEnd))
    done = at + hunk.old.length
  }
  result.push(...lines.slice(done))
  const whole = result.map((line) => (line.endsWith('\n') ? line : line + lineEnd)).join('')
  return text === '' || text.endsWith('\n') ? whole : whole.replace(/\r?\n$/, '')
}

/** The new lines of a place. Lines that stay keep their line ends. */
function changed(hunk: Hunk, before: readonly string[], lineEnd: string): string[] {
  return hunk.new.map((line) => (typeof line === 'number' ? (before[line] ?? '') : line + lineEnd))
}

/** The line nearest to `wanted` at which the old lines of a hunk occur; of two at the same distance, the earlier one. */
function placeOf({ old }: Hunk, lines: readonly string[], wanted: number, from: number): number | undefined {
  const last = lines.length - old.length
  const fits = (at: number): boolean => at >= from && at <= last && old.every((line, i) => line === lines[at + i])
  const near = Math.min(Math.max(wanted, from), Math.max(last, from))
  for (let away = 0; near - away >= from || near + away <= last; away++) {
    if (fits(near - away)) return near - away
    if (fits(near + away)) return near + away
  }
  return undefined
}
