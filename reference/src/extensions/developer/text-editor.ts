import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { integer, object, omittable, oneOf, string, elements } from '../../json/shape.ts'
import type { Shape } from '../../json/shape.ts'

/** Bytes of the largest file that is read. */
const maxFileBytes = 2 * 1024 * 1024
const maxUndo = 10

/** Says what is wrong with a request; models read it. */
export class EditError extends Error {
  override readonly name = 'EditError'
}

export interface EditRequest {
  path: string
  command: (typeof commands)[number]
  file_text?: string
  old_str?: string
  new_str?: string
  insert_line?: number
  view_range?: [number, number]
}

const commands = ['view', 'write', 'str_replace', 'insert', 'undo_edit'] as const
const lineNumber = integer(-1, 2 ** 31 - 1)

const range: Shape<[number, number]> = (place) => {
  const [from, to, ...more] = elements(place)
  if (from === undefined || to === undefined || more.length > 0) throw place.error('expected two numbers')
  return [lineNumber(from), lineNumber(to)]
}

export const editRequest: Shape<EditRequest> = object<EditRequest>({
  path: string,
  command: oneOf(...commands),
  file_text: omittable(string),
  old_str: omittable(string),
  new_str: omittable(string),
  insert_line: omittable(lineNumber),
  view_range: omittable(range),
})

/** Reads and changes text files, and remembers how to undo that. */
export class TextEditor {
  /** The texts that files had before, newest last. */
  readonly #before = new Map<string, string[]>()

  /** What came of a request. Rejects with an EditError. */
  async run(request: EditRequest): Promise<string> {
    const { path } = request
    if (!isAbsolute(path)) throw new EditError(`The path ${path} is not absolute`)
    switch (request.command) {
      case 'view':
        return view(await read(path), request.view_range)
      case 'write':
        return this.#write(path, needed(request.file_text, 'file_text'))
      case 'str_replace':
        return this.#change(path, (text) => replaceOnce(text, needed(request.old_str, 'old_str'), needed(request.new_str, 'new_str')))
      case 'insert':
        return this.#change(path, (text) => insertAfter(text, needed(request.insert_line, 'insert_line'), needed(request.new_str, 'new_str')))
      case 'undo_edit':
        return this.#undo(path)
      default:
        return request.command satisfies never
    }
  }

  async #write(path: string, text: string): Promise<string> {
    const before = await read(path).catch(() => null)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
    if (before !== null) this.#remember(path, before)
    return `The file ${path} was written.`
  }

  async #change(path: string, change: (text: string) => string): Promise<string> {
    const before = await read(path)
    await writeFile(path, change(before))
    this.#remember(path, before)
    return `The file ${path} was changed.`
  }

  async #undo(path: string): Promise<string> {
    const before = this.#before.get(path)?.pop()
    if (before === undefined) throw new EditError(`There is no edit of ${path} to undo`)
    await writeFile(path, before)
    return `The last edit of ${path} was undone.`
  }

  #remember(path: string, text: string): void {
    this.#before.set(path, [...(this.#before.get(path) ?? []), text].slice(-maxUndo))
  }
}

async function read(path: string): Promise<string> {
  let size: number
  try {
    const found = await stat(path)
    if (!found.isFile()) throw new EditError(`${path} is not a file`)
    size = found.size
  } catch (cause) {
    if (cause instanceof EditError) throw cause
    throw new EditError(`There is no file ${path}`, { cause })
  }
  if (size > maxFileBytes) throw new EditError(`The file ${path} has more than ${maxFileBytes} bytes`)
  return readFile(path, 'utf8')
}

function needed<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new EditError(`${name} is missing`)
  return value
}

/** The lines of a range, which count from 1; -1 is the end. */
function view(text: string, range: [number, number] | undefined): string {
  if (range === undefined) return text
  const lines = text.split('\n')
  const [from, to] = [Math.max(range[0], 1), range[1] === -1 ? lines.length : range[1]]
  if (from > to || from > lines.length) throw new EditError('view_range has no lines of the file')
  return lines.slice(from - 1, to).join('\n')
}

function replaceOnce(text: string, old: string, replacement: string): string {
  const at = text.indexOf(old)
  if (old === '' || at === -1) throw new EditError('old_str is not in the file')
  if (text.includes(old, at + 1)) throw new EditError('old_str is in the file more than once')
  return text.slice(0, at) + replacement + text.slice(at + old.length)
}

/** Behind this line; 0 is the beginning, -1 the end. */
function insertAfter(text: string, line: number, added: string): string {
  const lines = text.split('\n')
  if (text.endsWith('\n')) lines.pop()
  const at = line === -1 ? lines.length : line
  if (at > lines.length) throw new EditError(`The file has only ${lines.length} lines`)
  const after = [...lines.slice(0, at), added.replace(/\n$/, ''), ...lines.slice(at)].join('\n')
  return text.endsWith('\n') ? `${after}\n` : after
}
