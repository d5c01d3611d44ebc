import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A new directory, which is removed after the test. */
export function temporaryRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'goose-'))
  onTestFinished(() => {
    rmSync(root, { recursive: true })
  })
  return root
}
