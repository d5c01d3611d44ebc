import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../testing/temporary-root.ts'
import { NotRegularFileError, readRegularFile } from './regular-file.ts'

it.each([0, 1, 511, 512, 513, 5000])('a file of %i bytes is read if it may have as many', (size) => {
  const path = join(temporaryRoot(), 'file')
  const bytes = Buffer.alloc(size, 'abc')
  writeFileSync(path, bytes)
  expect(readRegularFile(path, size).equals(bytes)).toBe(true)
  if (size > 0) expect(() => readRegularFile(path, size - 1)).toThrow(NotRegularFileError)
})

it.skipIf(process.platform !== 'linux')('a file of the system, which has no size, is bounded too', () => {
  expect(readRegularFile('/proc/self/status').toString()).toMatch(/^Name:[^]*\nPid:\t\d+\n[^]*\n$/)
  expect(() => readRegularFile('/proc/self/status', 100)).toThrow(NotRegularFileError)
})
