import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const program = readFileSync(new URL('../../../scenarios/config/keyring/keyring.mjs', import.meta.url))

/** Puts the keyring of the scenarios into a directory, in this state, and returns the address of its bus. */
export function keyringIn(root: string, state: object): string {
  const path = join(root, 'servers/keyring.mjs')
  mkdirSync(join(root, 'servers'))
  writeFileSync(path, program)
  writeFileSync(join(root, 'keyring.json'), JSON.stringify(state))
  return `unixexec:path=${process.execPath},argv1=${path}`
}
