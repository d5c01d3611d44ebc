import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { keyringIn } from '../testing/keyring.ts'
import { temporaryRoot } from '../testing/temporary-root.ts'
import { recordingLogger } from '../testing/test-app.ts'
import { rootPaths } from './paths.ts'
import { Settings } from './settings.ts'

interface Rig {
  settings: Settings
  choices: () => unknown[]
  file: (name: string) => string
}

/** Secrets in the file, and a keyring in this state. */
function rig(secrets: string, state: object, address?: string): Rig {
  const root = temporaryRoot()
  const keyring = keyringIn(root, state)
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config/secrets.yaml'), secrets)
  const { logger, entries } = recordingLogger()
  const settings = new Settings(rootPaths(root), { DBUS_SESSION_BUS_ADDRESS: address ?? keyring }, logger)
  onTestFinished(() => {
    settings.close()
  })
  return { settings, choices: () => entries.map(({ message }) => message), file: (name) => readFileSync(join(root, name), 'utf8') }
}

it('secrets are stored in the keyring, and an old value in the file is removed (G55)', async () => {
  const { settings, choices, file } = rig('A: old\nB: kept\n', {})
  expect(await settings.secret('A')).toBe('old')
  await Promise.all([settings.setSecret('A', 'new'), settings.setSecret('C', 1)])
  expect(await Promise.all(['A', 'B', 'C'].map((key) => settings.secret(key)))).toEqual(['new', 'kept', 1])
  expect(file('config/secrets.yaml')).toBe('B: kept\n')
  expect(JSON.parse(file('keyring.json'))).toMatchObject({ items: [{ secret: '{"A":"new","C":1}' }] })
  expect(choices()).toEqual(['secrets are in the keyring'])
})

it('a prompt that was dismissed is not opened again (G56)', async () => {
  const items = [{ attributes: { service: 'goose', username: 'secrets', target: 'default' }, secret: '{}' }]
  const { settings, file } = rig('A: old\n', { locked: true, prompt: 'dismiss', items })
  for (let i = 0; i < 2; i++) await expect(settings.secret('A')).rejects.toThrow('prompt')
  expect(file('keyring.log').match(/^Prompt/gm)).toHaveLength(1)
})

it.each([
  ['greets without an end', 'process.stdout.write("x".repeat(1e6))'],
])('a bus that %s is no keyring, and the file is used (G53)', async (_, script) => {
  const { settings, choices } = rig('A: old\n', {}, `unixexec:path=${process.execPath},argv1=-e,argv2=${encodeURIComponent(`${script}; setInterval(() => {}, 1000)`)}`)
  expect(await settings.secret('A')).toBe('old')
  expect(choices()).toEqual(['secrets are in a file'])
}, 4000)
