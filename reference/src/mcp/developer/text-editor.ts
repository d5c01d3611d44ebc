import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { invalidCall, failedCall } from './call-error.ts'
import { fenced, forModel, languageOf, linesOf, text, texts } from './content.ts'
import { applied, changesOf } from './diff-files.ts'
import { absolutePath, type IgnoreRules } from './ignore-rules.ts'
import { asInteger, asRange, asText, parametersOf } from './parameters.ts'
import { notThere, readText, removeFile, statusOf, targetOf, writeText } from './text-file.ts'
import { UndoHistory } from './undo-history.ts'
import { view } from './view.ts'

/** How many lines are shown before and after the new lines. */
const linesAround = 4
const review = 'Review the changes above for errors. Undo and edit the file again if necessary!'

interface EditParameters {
  path: string
  command: string
  diff: string
  view_range: readonly [number, number]
  file_text: string
  old_str: string
  new_str: string
  insert_line: number
}

type Call = Partial<EditParameters> & Pick<EditParameters, 'path' | 'command'>

/** The file of a call. */
interface Named {
  /** The absolute path. */
  file: string
  /** The path in the model's call. */
  path: string
}

/** Shows, writes and changes text files, and can undo its changes (X17 to X20, X41). */
export class TextEditor {
  readonly #rules: IgnoreRules
  readonly #history = new UndoHistory()

  constructor(rules: IgnoreRules) {
    this.#rules = rules
  }

  /** Rejects with a RpcError. */
  async run(given: Readonly<Record<string, unknown>>): Promise<CallToolResult> {
    const call: Call = parametersOf<EditParameters, 'path' | 'command'>(
      given,
      {
        path: asText, command: asText, diff: asText, view_range: asRange,
        file_text: asText, old_str: asText, new_str: asText, insert_line: asInteger,
      },
      ['path', 'command'],
    )
    this.#rules.check(call.path)
    const named = { file: absolutePath(call.path), path: call.path }
    switch (call.command) {
      case 'view':
        return view(named.file, named.path, call.view_range)
      case 'write':
        return this.#write(named, needed(call, 'file_text'))
      case 'str_replace':
        if (call.diff !== undefined) return this.#apply(named, call.diff)
        return this.#replace(named, needed(call, 'old_str'), needed(call, 'new_str'))
      case 'insert':
        return this.#insert(named, needed(call, 'insert_line'), needed(call, 'new_str'))
      case 'undo_edit':
        return this.#undo(named)
      default:
        throw invalidCall(`Unknown command '${call.command}'`)
    }
  }

  async #write({ file, path }: Named, given: string): Promise<CallToolResult> {
    const status = await statusOf(file)
    if (status?.isDirectory() === true) throw failedCall(`Failed to write file: ${path}`)
    if (status?.isFile() === false) throw notThere(path)
    const lines = given.replace(/\r\n?/g, '\n')
    const content = lines.endsWith('\n') ? lines : `${lines}\n`
    await writeText(file, content, path)
    this.#history.forget(await targetOf(file))
    return texts(`Successfully wrote to ${path}`, `### ${path}\n${fenced(content, languageOf(path))}`, 0.2)
  }

  async #replace({ file, path }: Named, old: string, replacement: string): Promise<CallToolResult> {
    if ((await statusOf(file)) === undefined) {
      throw invalidCall(`File '${path}' does not exist, you can write a new file with the \`write\` command`)
    }
    const before = await readText(file, path)
    const lineEnd = lineEndOf(before)
    const [wanted, added] = [withLineEnds(old, lineEnd), withLineEnds(replacement, lineEnd)]
    const parts = wanted === '' ? ['', ...Array.from(before), ''] : before.split(wanted)
    const [start = '', rest = '', ...more] = parts
    if (more.length > 0) throw invalidCall("'old_str' must appear exactly once in the file, but it appears multiple times")
    if (parts.length === 1) {
      throw invalidCall(
        "'old_str' must appear exactly once in the file, but it does not appear in the file. Make sure the string exactly matches existing file content, including whitespace!",
      )
    }
    const after = start + added + rest
    await this.#change({ file, path }, before, after)
    const shown = section(after, start.length, added, path)
    return texts(`The file ${path} has been edited, and the section now reads:\n${shown}${review}`, shown, 0.2)
  }

  async #insert({ file, path }: Named, line: number, given: string): Promise<CallToolResult> {
    const before = await readText(file, path)
    const total = linesOf(before).length
    const at = line < 0 ? total + 1 + line : line
    if (at < 0 || at > total) {
      throw invalidCall(
        `Insert line ${line} is beyond the end of the file (total lines: ${total}). Use 0 to insert at the beginning or ${total} to insert at the end.`,
      )
    }
    const lineEnd = lineEndOf(before)
    const added = ended(withLineEnds(given, lineEnd), lineEnd)
    const cut = startOfLine(before, at)
    const start = cut === 0 ? '' : ended(before.slice(0, cut), lineEnd)
    const after = start + added + before.slice(cut)
    await this.#change({ file, path }, before, after)
    const shown = section(after, start.length, added, path)
    return texts(`Text has been inserted at line ${at + 1} in ${path}. The section now reads:\n${shown}${review}`, shown, 0.2)
  }

  async #apply({ file, path }: Named, diff: string): Promise<CallToolResult> {
    const { changes, added, removed } = await changesOf(diff, file, this.#rules)
    for (const change of await applied(changes)) {
      await writeText(change.file, change.after, change.name)
      this.#history.add(await targetOf(change.file), change.before)
    }
    const said = `Successfully applied diff to ${path}:\n• Lines added: ${added}\n• Lines removed: ${removed}`
    return texts(said, said, 0.2)
  }

  async #undo({ file, path }: Named): Promise<CallToolResult> {
    const target = await targetOf(file).catch(() => file)
    const before = this.#history.last(target)
    if (before === undefined) throw invalidCall('No edit history available to undo')
    if (before === null) await removeFile(file, path)
    else await writeText(file, before, path)
    this.#history.dropLast(target)
    return { content: [text('Undid the last edit', forModel)] }
  }

  async #change({ file, path }: Named, before: string, after: string): Promise<void> {
    await writeText(file, after, path)
    this.#history.add(await targetOf(file), before)
  }
}

function needed<K extends 'file_text' | 'old_str' | 'new_str' | 'insert_line'>(call: Call, name: K): EditParameters[K] {
  const value = call[name]
  if (value === undefined) throw invalidCall(`Missing '${name}' parameter for ${call.command} command`)
  return value as EditParameters[K] // it is not undefined
}

type LineEnd = '\n' | '\r\n'

/** The line end of the first line. */
function lineEndOf(value: string): LineEnd {
  const at = value.indexOf('\n')
  return at > 0 && value.charAt(at - 1) === '\r' ? '\r\n' : '\n'
}

function withLineEnds(value: string, lineEnd: LineEnd): string {
  return value.replace(/\r?\n/g, lineEnd)
}

function ended(value: string, lineEnd: LineEnd): string {
  return value.endsWith('\n') ? value : value + lineEnd
}

/** The offset at which a line begins, counted from 0. After the last line, the end of the text. */
function startOfLine(value: string, line: number): number {
  let at = 0
  for (let i = 0; i < line; i++) {
    const end = value.indexOf('\n', at)
    if (end === -1) return value.length
    at = end + 1
  }
  return at
}

/** The new lines and some lines around them, in a code fence. */
function section(whole: string, at: number, added: string, path: string): string {
  const lines = linesOf(whole)
  const first = lineAt(whole, at)
  const last = lineAt(whole, at + Math.max(added.length - 1, 0))
  const shown = lines.slice(Math.max(first - linesAround, 0), last + 1 + linesAround)
  return fenced(shown.join('\n'), languageOf(path))
}

/** The line that contains a character, counted from 0. */
function lineAt(value: string, at: number): number {
  let line = 0
  for (let i = value.indexOf('\n'); i !== -1 && i < at; i = value.indexOf('\n', i + 1)) line++
  return line
}
