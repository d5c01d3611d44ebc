import { readFileSync, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, it } from 'vitest'

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** The TypeScript files of the server, without tests and without files that only tests import. */
const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('testing/'),
)

/** The imports of each node. Type imports count, because a reader has to follow them too. */
function importsOf(nodeOf: (file: string) => string): Graph {
  const graph = new Map<string, Set<string>>()
  for (const file of files) {
    const [node, text] = [nodeOf(file), readFileSync(posix.join(import.meta.dirname, file), 'utf8')]
    const imported = graph.get(node) ?? new Set()
    for (const [, path = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)'/g)) {
      const target = nodeOf(posix.join(posix.dirname(file), path))
      if (target !== node) imported.add(target)
    }
    graph.set(node, imported)
  }
  return graph
}

/** The nodes of one loop, with the first one repeated at the end; empty if there is no loop. */
function findLoop(graph: Graph): string[] {
  const done = new Set<string>()
  const visit = (node: string, path: readonly string[]): string[] => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (done.has(node)) return []
    for (const next of graph.get(node) ?? []) {
      const loop = visit(next, [...path, node])
      if (loop.length > 0) return loop
    }
    done.add(node)
    return []
  }
  return [...graph.keys()].map((node) => visit(node, [])).find((loop) => loop.length > 0) ?? []
}

it('finds a loop', () => {
  const graph = new Map([['a', new Set(['b'])], ['b', new Set(['c'])], ['c', new Set(['b'])]])
  expect(findLoop(graph)).toEqual(['b', 'c', 'b'])
})

it('no two files import each other, directly or through others', () => {
  expect(importsOf((file) => file).size).toBeGreaterThan(150)
  expect(findLoop(importsOf((file) => file))).toEqual([])
})

it('no two folders import each other, directly or through others', () => {
  const folderOf = (file: string): string => (file.includes('/') ? posix.dirname(file) : file)
  expect(findLoop(importsOf(folderOf))).toEqual([])
})
