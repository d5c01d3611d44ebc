import { linesOf } from './content.ts'

type Kind = 'function' | 'class'

/** A symbol that a line declares or calls. Lines count from 1. */
export interface Symbol {
  name: string
  line: number
}

interface Declaration extends Symbol {
  kind: Kind
}

/** A call: a name before a parenthesis. */
export interface Call extends Symbol {
  /** The nearest function declared above the call, if any. */
  caller: string | undefined
}

/** The declarations and calls in a source file (X43). */
export interface Source {
  lines: number
  declarations: Declaration[]
  imports: string[]
  calls: Call[]
}

interface Language {
  name: string
  endings: readonly string[]
  /** Each pattern has one group, which is the name. */
  function: RegExp
  class: RegExp
  import: RegExp
}

const languages: readonly Language[] = [
  { name: 'python', endings: ['py'], function: /^\s*(?:async\s+)?def\s+(\w+)/, class: /^\s*class\s+(\w+)/, import: /^\s*(?:import|from)\s/ },
  {
    name: 'rust', endings: ['rs'], import: /^\s*(?:pub(?:\([^)]*\))?\s+)?use\s/,
    function: /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:const|async|unsafe|extern(?:\s+"[^"]*")?)\s+)*fn\s+(\w+)/,
    class: /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union)\s+(\w+)/,
  },
  {
    name: 'javascript', endings: ['js', 'jsx', 'mjs', 'ts', 'tsx'], import: /^\s*import\b/,
    function: /^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\s*\*?\s*([\w$]+)|(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s+)?(?:function\b|\([^()]*\)\s*=>|[\w$]+\s*=>))/,
    class: /^\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?(?:class|interface)\s+([\w$]+)/,
  },
  { name: 'go', endings: ['go'], function: /^func\s+(?:\([^)]*\)\s*)?(\w+)/, class: /^\s*type\s+(\w+)(?:\[[^\]]*\])?\s+(?:struct|interface)\b/, import: /^\s*import\s/ },
  {
    name: 'java', endings: ['java'], import: /^\s*import\s/,
    function: /^\s*(?:(?:public|private|protected|static|final|abstract|synchronized|native|default)\s+)+(?:<[^>]*>\s*)?[\w.<>[\],]+\s+(\w+)\s*\(/,
    class: /^\s*(?:(?:public|private|protected|static|final|abstract|sealed)\s+)*(?:class|interface|enum|record)\s+(\w+)/,
  },
  {
    name: 'kotlin', endings: ['kt', 'kts'], import: /^\s*import\s/, function: /^\s*(?:\w+\s+)*fun\s+(?:<[^>]*>\s*)?(?:\w+\.)?(\w+)/,
    class: /^\s*(?:\w+\s+)*(?:class|interface|object)\s+(\w+)/,
  },
  {
    name: 'swift', endings: ['swift'], import: /^\s*import\s/, function: /^\s*(?:\w+\s+)*func\s+(\w+)/,
    class: /^\s*(?:\w+\s+)*(?:class|struct|enum|protocol|actor)\s+(\w+)/,
  },
  { name: 'ruby', endings: ['rb'], function: /^\s*def\s+(?:self\.)?(\w+[?!]?)/, class: /^\s*(?:class|module)\s+(\w+)/, import: /^\s*require(?:_relative)?\b/ },
]

/** The language of a file by its extension; undefined for unknown extensions. */
export function languageOfSource(path: string): string | undefined {
  return find(path)?.name
}

function find(path: string): Language | undefined {
  const ending = /\.([^./]+)$/.exec(path)?.[1] ?? ''
  return languages.find(({ endings }) => endings.includes(ending))
}

const longestLine = 1000

export function readSource(path: string, text: string): Source {
  const language = find(path)
  const lines = linesOf(text)
  const source: Source = { lines: lines.length, declarations: [], imports: [], calls: [] }
  if (language === undefined) return source
  let caller: string | undefined
  lines.forEach((whole, i) => {
    const line = whole.slice(0, longestLine) // patterns match only the beginning of a long line
    const declared = declaredIn(line, language)
    if (declared !== undefined) source.declarations.push({ ...declared, line: i + 1 })
    if (declared?.kind === 'function') caller = declared.name
    if (language.import.test(line)) source.imports.push(line.trim())
    for (const [, name = ''] of line.matchAll(/([\w$]+[?!]?)\s?\(/g)) {
      if (name !== declared?.name) source.calls.push({ name, line: i + 1, caller })
    }
  })
  return source
}

function declaredIn(line: string, language: Language): { name: string; kind: Kind } | undefined {
  for (const kind of ['class', 'function'] as const) {
    const match = language[kind].exec(line)
    const name = match?.[1] ?? match?.[2]
    if (name !== undefined) return { name, kind }
  }
  return undefined
}
