/** A change that can be undone. */
interface Change {
  file: string
  /** Null for a file that the change created. */
  before: string | null
  bytes: number
}

const maxChanges = 10
const maxBytes = 64 * 1024 * 1024

/** The latest changes of each file (X20). A file is identified by its path with links resolved. */
export class UndoHistory {
  /** Newest last. */
  #changes: Change[] = []

  add(file: string, before: string | null): void {
    this.#changes.push({ file, before, bytes: Buffer.byteLength(before ?? '') })
    const ofFile = this.#changes.filter((change) => change.file === file)
    if (ofFile.length > maxChanges) this.#changes.splice(this.#changes.findIndex((change) => change.file === file), 1)
    let bytes = this.#changes.reduce((sum, change) => sum + change.bytes, 0)
    while (bytes > maxBytes) bytes -= this.#changes.shift()?.bytes ?? 0
  }

  /** The content of the file before its last change; undefined if there is no change. */
  last(file: string): string | null | undefined {
    return this.#changes.findLast((change) => change.file === file)?.before
  }

  dropLast(file: string): void {
    const at = this.#changes.findLastIndex((change) => change.file === file)
    if (at !== -1) this.#changes.splice(at, 1)
  }

  forget(file: string): void {
    this.#changes = this.#changes.filter((change) => change.file !== file)
  }
}
