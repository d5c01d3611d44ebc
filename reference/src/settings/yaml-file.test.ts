import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GooseApp } from '../testing/goose-app.ts'
import { temporaryRoot } from '../testing/temporary-root.ts'
import { stringifyJson } from '../wire/json/stringify.ts'
import { parseYaml } from '../wire/yaml/yaml.ts'
import { MappingFile, NotAMappingError } from './yaml-file.ts'

const numbers = Array.from({ length: 100_000 }, (_, i) => i).join(', ')
const large = `z: [${numbers}]\n1: {digits: 12345678901234567890123, exact: 1.0, text: "ü", alias: &a [x]}\n0: *a\n`

function fileWith(text: string): MappingFile {
  const path = join(temporaryRoot(), 'x.yaml')
  writeFileSync(path, text)
  return new MappingFile(path)
}

/** How often other work runs meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  const counting = setInterval(() => turns++, 1)
  await work()
  clearInterval(counting)
  return turns
}

describe('a large file of settings', () => {
  it('is parsed in a thread, once while it does not change, with the same values (G38)', async () => {
    const file = fileWith(large)
    expect(await turnsDuring(() => Promise.all([file.prepare(), file.prepare()]))).toBeGreaterThan(20)
    const mapping = file.read()
    expect(stringifyJson(mapping)).toBe(stringifyJson(parseYaml(large)))
    await file.prepare()
    expect(file.read()).toBe(mapping)
  })

  it('does not delay other requests', async () => {
    const app = new GooseApp()
    for (const target of ['/config', '/config/validate']) {
      writeFileSync(join(app.root, 'config/config.yaml'), `# ${target}\n${large}`)
      const turns = await turnsDuring(async () => {
        expect((await app.get(target)).status).toBe(200)
      })
      expect(turns).toBeGreaterThan(20)
    }
  })

  it.each([
    ['no YAML', `${large}z: 1\n`, 'not YAML'],
    ['no mapping', `[${numbers}]`, 'the file is not a mapping'],
  ])('that is %s is a mistake, as without a thread', async (_, text, message) => {
    const file = fileWith(text)
    await file.prepare()
    for (let i = 0; i < 2; i++) expect(() => file.read()).toThrow(new NotAMappingError(message))
  })

  it('is not parsed again after this server has written it', () => {
    const file = fileWith('')
    const mapping = { a: Array.from({ length: 20_000 }, () => 'x') }
    file.replace(mapping)
    expect(file.read()).toBe(mapping)
    file.write(Buffer.from('b: 1\n'))
    expect(file.read()).toEqual({ b: 1 })
  })
})
