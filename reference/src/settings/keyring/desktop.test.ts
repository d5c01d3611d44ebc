import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { signalGroup } from '../../signal-group.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'
import { rootPaths } from '../paths.ts'
import { Settings } from '../settings.ts'

const unlocked = 'printf secret | gnome-keyring-daemon --unlock --components=secrets && echo "bus $DBUS_SESSION_BUS_ADDRESS" && exec cat'

/** Starts a session bus with the keyring of GNOME, unlocked, and returns its address. */
async function desktop(): Promise<string> {
  const home = temporaryRoot()
  const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_RUNTIME_DIR: home }
  const bus = spawn('dbus-run-session', ['--', 'sh', '-c', unlocked], { env, detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(async () => {
    const ended = new Promise((resolve) => bus.once('close', resolve))
    signalGroup(bus.pid, 'SIGKILL')
    await ended
  })
  for await (const line of createInterface(bus.stdout)) {
    if (line.startsWith('bus ')) return line.slice('bus '.length)
  }
  throw new Error('the keyring of GNOME does not start')
}

// `make test-keyring` sets the variable where the programs are installed.
it.runIf(process.env.AGENTD_TEST_KEYRING)('secrets are in the keyring of GNOME, also after a restart (G53, G54, G55)', async () => {
  const address = await desktop()
  const root = temporaryRoot()
  mkdirSync(join(root, 'config'))
  const file = join(root, 'config/secrets.yaml')
  writeFileSync(file, 'OLD: from-file\nMOVED: from-file\n')
  const start = (environment = {}): Settings => {
    const settings = new Settings(rootPaths(root), { DBUS_SESSION_BUS_ADDRESS: address, ...environment })
    onTestFinished(() => {
      settings.close()
    })
    return settings
  }
  const all = async (settings: Settings): Promise<unknown> => Promise.all(['A', 'B', 'OLD', 'MOVED'].map((key) => settings.secret(key)))

  const first = start()
  expect(await all(first)).toEqual([undefined, undefined, 'from-file', 'from-file'])
  await Promise.all([first.setSecret('A', 'abcd'), first.setSecret('B', [1]), first.setSecret('MOVED', 'to the keyring')])
  const large = 'x'.repeat(2_000_000)
  await first.setSecret('large', large)
  expect(await first.secret('large')).toBe(large)
  await first.removeSecret('large')
  await first.removeSecret('B')
  expect(readFileSync(file, 'utf8')).toBe('OLD: from-file\n')

  expect(await all(start())).toEqual(['abcd', undefined, 'from-file', 'to the keyring'])
  expect(await all(start({ GOOSE_DISABLE_KEYRING: '' }))).toEqual([undefined, undefined, 'from-file', undefined])
})
