import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isObject } from '../../json/is-object.ts'
import { ToolFault } from '../arguments.ts'
import type { Arguments } from '../arguments.ts'
import { listedNames } from '../listed-names.ts'

/** Bytes of the largest file (X17). */
const maxFileBytes = 1024 * 1024
const maxUndo = { changes: 10, bytes: 64 * 1024 * 1024 }

/** A change that can be taken back. */
interface Undo {
  /** Resolved: one file has many names. */
  path: string
  /** Null for a file that was made. */
  before: string | null
}

/** Reads and changes text files, and remembers how to undo that (X17 to X20). */
export class TextEditor {
  /** Newest last. */
  #undos: Undo[] = []

  /** What came of a request. Rejects with a ToolFault. */
  async run(args: Arguments): Promise<string> {
    const path = args.text('path')
    const command = args.text('command')
    switch (command) {
      case 'view':
        return view(path, args)
      case 'write':
        return this.#write(path, args.text('file_text'))
      case 'str_replace':
        return this.#replace(path, args)
      case 'insert':
        return this.#insert(path, args)
      case 'undo_edit':
        return this.#undo(path)
      default:
        throw new ToolFault('Invalid argument: command')
    }
  }

  async #write(path: string, text: string): Promise<string> {
    const before = (await kindOf(path)) === null ? null : await read(path)
    try {
      await mkdir(dirname(path), { recursive: true })
    } catch (cause) {
      throw new ToolFault(`Cannot write ${path}`, { cause })
    }
    await this.#save(path, before, text)
    return `Wrote ${path}`
  }

  async #replace(path: string, args: Arguments): Promise<string> {
    const [old, replacement] = [args.text('old_str'), args.text('new_str')]
    if (old === '') throw new ToolFault('Invalid argument: old_str')
    const before = await read(path)
    const parts = before.split(old)
    if (parts.length === 1) throw new ToolFault(`No such text in ${path}`)
    if (parts.length > 2) throw new ToolFault(`${parts.length - 1} such texts in ${path}, there must be one`)
    await this.#save(path, before, parts.join(replacement))
    return `Changed ${path}`
  }

  async #insert(path: string, args: Arguments): Promise<string> {
    const [line, added] = [args.integer('insert_line'), args.text('new_str')]
    const before = await read(path)
    const lines = linesOf(before)
    if (line < 0 || line > lines.length) throw new ToolFault('Invalid argument: insert_line')
    const start = lines.slice(0, line).map((one) => `${one}\n`).join('')
    await this.#save(path, before, `${start}${added.endsWith('\n') ? added : `${added}\n`}${before.slice(start.length)}`)
    return `Changed ${path}`
  }

  async #undo(path: string): Promise<string> {
    const at = this.#undos.findLastIndex((undo) => undo.path === resolve(path))
    const undo = this.#undos[at]
    if (undo === undefined) throw new ToolFault(`Nothing to undo in ${path}`)
    try {
      if (undo.before === null) await rm(undo.path, { force: true })
      else await writeFile(undo.path, undo.before)
    } catch (cause) {
      throw new ToolFault(`Cannot write ${path}`, { cause })
    }
    this.#undos.splice(at, 1)
    return `Undid the last change of ${path}`
  }

  async #save(path: string, before: string | null, text: string): Promise<void> {
    if (Buffer.byteLength(text) > maxFileBytes) throw new ToolFault(`File is too large: ${path}`)
    try {
      await writeFile(path, text, { mode: 0o644 })
    } catch (cause) {
      throw new ToolFault(`Cannot write ${path}`, { cause })
    }
    const file = resolve(path)
    this.#undos.push({ path: file, before })
    const ofFile = this.#undos.filter((undo) => undo.path === file)
    if (ofFile.length > maxUndo.changes) this.#undos.splice(this.#undos.findIndex((undo) => undo.path === file), 1)
    while (this.#undos.reduce((sum, undo) => sum + (undo.before?.length ?? 0), 0) > maxUndo.bytes) this.#undos.shift()
  }
}

/** Null when there is nothing. */
async function kindOf(path: string): Promise<'file' | 'directory' | 'other' | null> {
  try {
    const found = await stat(path)
    if (found.isFile()) return 'file'
    return found.isDirectory() ? 'directory' : 'other'
  } catch (cause) {
    if (isObject(cause) && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR')) return null
    throw new ToolFault(`Cannot read ${path}`, { cause })
  }
}

async function read(path: string): Promise<string> {
  const kind = await kindOf(path)
  if (kind === null) throw new ToolFault(`No such file: ${path}`)
  if (kind !== 'file') throw new ToolFault(`Not a file: ${path}`)
  let bytes: Buffer
  try {
    if ((await stat(path)).size > maxFileBytes) throw new ToolFault(`File is too large: ${path}`)
    bytes = await readFile(path)
  } catch (cause) {
    throw cause instanceof ToolFault ? cause : new ToolFault(`Cannot read ${path}`, { cause })
  }
  return bytes.toString()
}

/** The lines of a text; the last one need not end. */
function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

async function view(path: string, args: Arguments): Promise<string> {
  const range = args.integers('view_range')
  if ((await kindOf(path)) === 'directory') return names(path)
  const lines = linesOf(await read(path))
  const [first = 1, last = -1] = range ?? []
  const end = last === -1 ? lines.length : Math.min(last, lines.length)
  if (range !== undefined && (range.length !== 2 || first < 1 || first > lines.length || (last !== -1 && last < first))) {
    throw new ToolFault('Invalid argument: view_range')
  }
  if (lines.length === 0) return '[The file is empty.]'
  return lines.slice(first - 1, end).map((line, i) => `${first + i}: ${line}`).join('\n')
}

async function names(path: string): Promise<string> {
  const entries = await readdir(path, { withFileTypes: true }).catch((cause: unknown) => {
    throw new ToolFault(`Cannot read ${path}`, { cause })
  })
  return entries.length === 0 ? '[The directory is empty.]' : listedNames(entries)
}
