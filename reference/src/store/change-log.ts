import {
  closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, readSync, renameSync, rmSync, statSync, unlinkSync, writeSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { openPrivate } from '../settings/private-files.ts'

/*
 * A file of changes, one to a line. A change that `append` has returned from is in the hands of the system, and outlives
 * the process however that ends; a line that a kill has cut short was never acknowledged, and is dropped.
 */

const LF = 0x0a

/** Makes a file with its first change. False if there is such a file already. */
export function createLog(path: string, change: string): boolean {
  let file: number
  try {
    file = openPrivate(path, 'wx')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
  try {
    writeAll(file, line(change))
  } catch (error) {
    unlinkSync(path)
    throw error
  } finally {
    closeSync(file)
  }
  return true
}

/** Adds a change, as a whole or not at all. The file must be there. */
export function appendToLog(path: string, change: string): void {
  const file = openSync(path, constants.O_RDWR)
  try {
    const end = endOfWholeLines(file, path)
    ftruncateSync(file, end)
    try {
      writeAll(file, line(change), end)
    } catch (error) {
      // What is there of a line would otherwise be the beginning of the next one.
      ftruncateSync(file, end)
      throw error
    }
  } finally {
    closeSync(file)
  }
}

/** The changes, oldest first. */
export function readLog(path: string): string[] {
  return wholeLines(readFileSync(path, 'utf8'))
}

/** The same while others have their turn. Changes that are added meanwhile are there or not. */
export async function readLogAside(path: string): Promise<string[]> {
  return wholeLines(await readFile(path, 'utf8'))
}

function wholeLines(text: string): string[] {
  const lines = text.split('\n')
  lines.pop() // nothing, or a line that was cut short
  return lines
}

/** Puts one change in the place of all. Whoever reads sees the old ones or the new one. */
export function replaceLog(path: string, change: string): void {
  const temporary = temporaryOf(path)
  try {
    const file = openPrivate(temporary, 'w')
    try {
      writeAll(file, line(change))
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Removes the file, and what a kill may have left of one that was to replace it. */
export function deleteLog(path: string): void {
  rmSync(temporaryOf(path), { force: true })
  unlinkSync(path)
}

function temporaryOf(path: string): string {
  return `${path}.tmp`
}

/** Bytes of the file. */
export function sizeOfLog(path: string): number {
  return statSync(path).size
}

function line(change: string): Buffer {
  return Buffer.from(`${change}\n`)
}

/** The system may take less than it was given. */
function writeAll(file: number, bytes: Buffer, position = 0): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, position + done)
}

/** The size of the file without a last line that was cut short. */
function endOfWholeLines(file: number, path: string): number {
  const { size } = fstatSync(file)
  if (size === 0 || lastByte(file, size) === LF) return size
  return readFileSync(path).lastIndexOf(LF) + 1
}

function lastByte(file: number, size: number): number | undefined {
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, size - 1)
  return byte[0]
}
