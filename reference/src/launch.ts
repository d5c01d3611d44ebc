import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'

// This is dist/main.js, which runs the program of build.js in the main thread and in others. Node compiles the program
// itself if the compiled code is from another version of Node.
const program = fileURLToPath(new URL('server.cjs', import.meta.url))
const compiled = readFileSync(new URL('server.cache', import.meta.url))
const script = new Script(readFileSync(program, 'latin1'), { filename: program, cachedData: compiled })
const run = script.runInThisContext() as (require: NodeJS.Require, programUrl: string) => void
run(createRequire(import.meta.url), import.meta.url)
