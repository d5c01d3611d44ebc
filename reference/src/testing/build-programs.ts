import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The directory with main.js and mcp-stdio.js. */
    programs: string
  }
}

/**
 * Vitest calls it once before all tests. It builds the programs that tests start as processes, because each start from the sources
 * takes a second.
 */
export async function setup(project: TestProject): Promise<() => void> {
  const programs = mkdtempSync(join(tmpdir(), 'reference-programs-'))
  const root = fileURLToPath(new URL('../..', import.meta.url))
  execFileSync(process.execPath, ['build.js', programs], { cwd: root })
  writeFileSync(join(programs, 'package.json'), '{"type":"module"}')
  await build({
    entryPoints: [fileURLToPath(new URL('mcp-stdio.ts', import.meta.url))],
    outfile: join(programs, 'mcp-stdio.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
  })
  project.provide('programs', programs)
  return () => {
    rmSync(programs, { recursive: true, force: true })
  }
}
