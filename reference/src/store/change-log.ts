import {
  closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, renameSync, rmSync, statSync, unlinkSync, writeSync,
} from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { errorCode } from '../error-code.ts'
import { TimeSlices } from '../wire/json/time-slices.ts'
import { NotRegularFileError, nonBlockingRead } from '../settings/regular-file.ts'
import { openPrivate } from '../settings/private-files.ts'

/*
 * A file with one change on each line. Once `append` returns, the system has the change, and it survives the end of the process.
 * A line that a kill cut short was never acknowledged, so it is dropped.
 */

const LF = 0x0a
/** How many bytes of a file are read at a time. */
const blockSize = 64 * 1024

/** The text of a change without its line feed, in pieces. */
export type Line = readonly Uint8Array[]

/** Creates a file with its first change. Returns false if the file already exists. */
export function createLog(path: string, change: Line): boolean {
  let file: number
  try {
    file = openPrivate(path, 'wx')
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
  try {
    writeLine(file, change, 0)
  } catch (error) {
    unlinkSync(path)
    throw error
  } finally {
    closeSync(file)
  }
  return true
}

/** Appends a change, completely or not at all. The file must exist. */
export function appendToLog(path: string, change: Line): void {
  const file = openSync(path, constants.O_RDWR)
  try {
    const end = endOfWholeLines(file)
    ftruncateSync(file, end)
    try {
      writeLine(file, change, end)
    } catch (error) {
      // Otherwise the rest of a failed line would become the beginning of the next one.
      ftruncateSync(file, end)
      throw error
    }
  } finally {
    closeSync(file)
  }
}

/** The changes in the first `size` bytes, oldest first. Changes that are added meanwhile may or may not be included. */
export async function* readLog(path: string, size = Infinity): AsyncGenerator<string> {
  const file = await open(path, nonBlockingRead)
  try {
    if (!(await file.stat()).isFile()) throw new NotRegularFileError('not a plain file')
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    let rest = ''
    for await (const block of blocks(file, size)) {
      const [first = '', ...others] = decoder.decode(block, { stream: true }).split('\n')
      rest += first
      for (const other of others) {
        yield rest
        rest = other
      }
    }
  } finally {
    await file.close()
  }
}

async function* blocks(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  const block = Buffer.alloc(blockSize)
  for (let at = 0; at < size; ) {
    const { bytesRead } = await file.read(block, 0, Math.min(blockSize, size - at), at)
    if (bytesRead === 0) return
    yield block.subarray(0, bytesRead)
    at += bytesRead
  }
}

/**
 * Replaces the changes in the first `size` bytes by one change, and keeps the later ones. Readers see either the old changes or
 * the new one. Does nothing if `isThere` says that the log was deleted meanwhile.
 */
export async function replaceInLog(path: string, size: number, change: Line, isThere: () => boolean): Promise<void> {
  if (!isThere()) return
  const temporary = temporaryOf(path)
  const file = openPrivate(temporary, 'w')
  try {
    const position = await writeAside(file, change)
    if (!isThere()) return // the temporary file was deleted with the log
    // Nothing may be appended between the copy and the rename.
    copyRest(path, size, file, position)
    renameSync(temporary, path)
  } catch (error) {
    if (isThere()) rmSync(temporary, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

async function writeAside(file: number, change: Line): Promise<number> {
  const slices = new TimeSlices()
  let position = 0
  for (const piece of [...change, lineFeed]) {
    writeAll(file, piece, position)
    position += piece.length
    await slices.yieldIfDue()
  }
  return position
}

function copyRest(path: string, from: number, target: number, position: number): void {
  const source = openSync(path, 'r')
  try {
    const block = Buffer.alloc(blockSize)
    for (let done = 0; ; ) {
      const count = readSync(source, block, 0, blockSize, from + done)
      if (count === 0) return
      writeAll(target, block.subarray(0, count), position + done)
      done += count
    }
  } finally {
    closeSync(source)
  }
}

/** Removes the file, and a temporary file that a killed process may have left. */
export function deleteLog(path: string): void {
  rmSync(temporaryOf(path), { force: true })
  unlinkSync(path)
}

function temporaryOf(path: string): string {
  return `${path}.tmp`
}

/** The size of the file in bytes. */
export function sizeOfLog(path: string): number {
  return statSync(path).size
}

const lineFeed = Buffer.of(LF)

function writeLine(file: number, change: Line, position: number): void {
  let at = position
  for (const piece of [...change, lineFeed]) {
    writeAll(file, piece, at)
    at += piece.length
  }
}

/** Writes all bytes. One system call may write fewer than requested. */
function writeAll(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, position + done)
}

/** The size of the file without a last line that was cut short. */
function endOfWholeLines(file: number): number {
  let { size: end } = fstatSync(file)
  const block = Buffer.alloc(blockSize)
  // The last byte is nearly always a line feed.
  for (let length = 1; end > 0; length = blockSize) {
    const start = Math.max(end - length, 0)
    const count = readSync(file, block, 0, end - start, start)
    const last = block.subarray(0, count).lastIndexOf(LF)
    if (last !== -1) return start + last + 1
    end = start
  }
  return 0
}
