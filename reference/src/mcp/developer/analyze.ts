import { readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { entriesIn } from '../../settings/directories.ts'
import { invalidCall } from './call-error.ts'
import { linesOf, text, texts } from './content.ts'
import { absolutePath, type IgnoreRules } from './ignore-rules.ts'
import { asFlag, asInteger, asText, parametersOf } from './parameters.ts'
import { languageOfSource, readSource, type Call, type Source } from './source-symbols.ts'
import { compareBytes } from '../../text/compare-bytes.ts'

const limits = { files: 10_000, bytes: 1 << 20, ms: 5000 }
const maxLines = 1000

interface AnalyzeParameters {
  path: string
  focus: string
  follow_depth: number
  max_depth: number
  ast_recursion_limit: number
  force: boolean
}

interface NamedSource extends Source {
  /** The path relative to the path of the call. */
  name: string
}

/** Shows what source files declare, and who calls it (X43 to X45). Throws a RpcError. */
export function analyze(given: Readonly<Record<string, unknown>>, rules: IgnoreRules): CallToolResult {
  const call = parametersOf<AnalyzeParameters, 'path'>(
    given,
    { path: asText, focus: asText, follow_depth: asInteger, max_depth: asInteger, ast_recursion_limit: asInteger, force: asFlag },
    ['path'],
  )
  rules.check(call.path)
  const path = absolutePath(call.path)
  const status = statSync(path, { throwIfNoEntry: false })
  if (status === undefined) throw invalidCall(`Path '${call.path}' does not exist`)
  const depth = call.max_depth ?? 3
  const files = status.isDirectory() ? new Walk(path, depth, rules).files : [sourceAt(path, basename(path))].filter((one) => one !== undefined)
  const said = textOf(call.path, files, status.isDirectory(), depth, call.focus, call.follow_depth ?? 2)
  const count = linesOf(said).length
  if (count > maxLines && call.force !== true) {
    return { content: [text(`LARGE OUTPUT WARNING: ${count} lines. Call again with force to see them, or with a smaller path.\n`)] }
  }
  return texts(said, said, 0)
}

function textOf(path: string, files: NamedSource[], isDirectory: boolean, depth: number, focus: string | undefined, follow: number): string {
  if (focus !== undefined) return focused(files, focus, follow)
  const [file] = files
  return isDirectory ? overview(files, depth) : outline(path, file ?? { name: path, lines: 0, declarations: [], imports: [], calls: [] })
}

/** The source files of a directory, sorted by the bytes of their names. */
class Walk {
  readonly files: NamedSource[] = []
  readonly #rules: IgnoreRules
  readonly #end = Date.now() + limits.ms

  constructor(path: string, depth: number, rules: IgnoreRules) {
    this.#rules = rules
    this.#walk(path, '', depth <= 0 ? Infinity : depth)
  }

  #walk(directory: string, prefix: string, depth: number): void {
    const entries = entriesIn(directory).sort((a, b) => compareBytes(a.name, b.name))
    for (const entry of entries) {
      if (this.files.length >= limits.files || Date.now() > this.#end) return
      const path = join(directory, entry.name)
      if (entry.name.startsWith('.') || this.#rules.ignores(path)) continue
      if (entry.isDirectory() && depth > 1) this.#walk(path, `${prefix}${entry.name}/`, depth - 1)
      if (!entry.isFile() || languageOfSource(path) === undefined) continue
      const source = sourceAt(path, `${prefix}${entry.name}`)
      if (source !== undefined) this.files.push(source)
    }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function sourceAt(path: string, name: string): NamedSource | undefined {
  try {
    const status = statSync(path)
    if (!status.isFile() || status.size > limits.bytes) return undefined
    return { name, ...readSource(path, decoder.decode(readFileSync(path))) }
  } catch {
    return undefined // not UTF-8, or it cannot be read
  }
}

function counts(files: readonly Source[]): string {
  const [lines, functions, classes] = [
    files.reduce((sum, file) => sum + file.lines, 0),
    ...(['function', 'class'] as const).map((kind) => files.flatMap((file) => file.declarations).filter((one) => one.kind === kind).length),
  ]
  return `${lines}L, ${functions}F, ${classes}C`
}

function overview(files: readonly NamedSource[], depth: number): string {
  const total = files.reduce((sum, file) => sum + file.lines, 0)
  const byLanguage = new Map<string, number>()
  for (const { name, lines } of files) {
    const language = languageOfSource(name) ?? ''
    byLanguage.set(language, (byLanguage.get(language) ?? 0) + lines)
  }
  const shares = [...byLanguage]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([name, lines]) => `${name} (${total === 0 ? 0 : Math.floor((lines * 100) / total)}%)`)
  const head = `SUMMARY:\nShown: ${files.length} files, ${counts(files)} (max_depth=${depth})\nLanguages: ${shares.join(', ') || 'none'}\n\n`
  let around: string[] = []
  const tree = files.map((file) => {
    const directories = file.name.split('/').slice(0, -1)
    const common = directories.findIndex((name, i) => name !== around[i])
    const fresh = common === -1 ? [] : directories.slice(common).map((name, i) => `${'  '.repeat(common + i)}${name}/\n`)
    around = directories
    const main = file.declarations.find(({ name, kind }) => kind === 'function' && name === 'main')
    const flag = main === undefined ? '' : ` main:${main.line}`
    return `${fresh.join('')}${'  '.repeat(directories.length)}${basename(file.name)} [${counts([file])}]${flag}\n`
  })
  return `${head}PATH [LOC, FUNCTIONS, CLASSES] <FLAGS>\n${tree.join('')}`
}

function outline(path: string, file: NamedSource): string {
  const declared = (kind: string): string[] => file.declarations.filter((one) => one.kind === kind).map(({ name, line }) => `${name}:${line}`)
  const functions = new Set(file.declarations.filter(({ kind }) => kind === 'function').map(({ name }) => name))
  const blocks: [string, string[]][] = [
    ['C', declared('class')],
    ['F', declared('function')],
    ['I', file.imports],
    ['R', file.calls.filter(({ name }) => functions.has(name)).map(({ name, line }) => `${name}:${line}`)],
  ]
  const shown = blocks.filter(([, entries]) => entries.length > 0)
  return `FILE: ${path} [${counts([file])}]\n${shown.map(([head, entries]) => `\n${head}:\n${entries.map((entry) => `  ${entry}\n`).join('')}`).join('')}`
}

type PlacedCall = Call & { caller: string; file: string }

function focused(files: readonly NamedSource[], symbol: string, depth: number): string {
  const declarations = files.flatMap((file) => file.declarations.map((one) => ({ ...one, file: file.name })))
  const definitions = declarations.filter(({ name }) => name === symbol)
  const functions = new Set(declarations.filter(({ kind }) => kind === 'function').map(({ name }) => name))
  const calls = files.flatMap((file) =>
    file.calls.flatMap(({ name, line, caller }) => (caller === undefined || !functions.has(name) ? [] : [{ name, line, caller, file: file.name }])),
  )
  if (definitions.length === 0) return `Symbol '${symbol}' not found in any analyzed files.\n`
  const incoming = chain(calls, symbol, depth, ({ name }) => name, ({ caller }) => caller)
  const outgoing = chain(calls, symbol, depth, ({ caller }) => caller, ({ name }) => name)
  const shown = (some: readonly PlacedCall[]): string[] => some.map(({ caller, name, file, line }) => `${caller} -> ${name} (${file}:${line})`)
  const blocks: [string, string[]][] = [
    ['DEFINITIONS', definitions.map(({ file, line, kind }) => `${file}:${line} ${kind}`)],
    ['INCOMING', shown(incoming)],
    ['OUTGOING', shown(outgoing)],
    ['STATISTICS', [`Files: ${files.length}`, `Definitions: ${definitions.length}`, `Incoming: ${incoming.length}`, `Outgoing: ${outgoing.length}`]],
  ]
  return `FOCUSED ANALYSIS: ${symbol}\n${blocks.map(([head, entries]) => `\n${head}:\n${entries.map((entry) => `  ${entry}\n`).join('')}`).join('')}`
}

/** Follows calls from a symbol: first the calls at the symbol, then those at their other ends. Each call appears once. */
function chain(calls: readonly PlacedCall[], symbol: string, depth: number, near: (call: PlacedCall) => string, far: (call: PlacedCall) => string): PlacedCall[] {
  const found = new Set<PlacedCall>()
  let ends = new Set([symbol])
  for (let level = 0; level < depth && ends.size > 0; level++) {
    const next = calls.filter((call) => !found.has(call) && ends.has(near(call)))
    for (const call of next) found.add(call)
    ends = new Set(next.map(far))
  }
  return [...found]
}
