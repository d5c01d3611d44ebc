import { closeSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../error-code.ts'
import type { JsonObject } from '../wire/json/shape.ts'
import { stringifyJson } from '../wire/json/stringify.ts'
import type { Logger } from '../log.ts'
import { visibleToBoth } from '../domain/message/message.ts'
import type { ModelConfig } from '../domain/session/session.ts'
import { makeDirectory, openPrivate } from '../settings/private-files.ts'
import type { Piece } from './model.ts'

const keptLogs = 10

/** The logs of requests to models, one file for each call. The newest file has the number 0 (GA 18.9, M40). */
export class RequestLogs {
  readonly #directory: string
  readonly #logger: Logger

  constructor(directory: string, logger: Logger) {
    this.#directory = directory
    this.#logger = logger
  }

  /** Begins the log of a call. A call continues if its log cannot be written. */
  begin(config: ModelConfig, input: JsonObject): RequestLog {
    try {
      makeDirectory(this.#directory)
      for (let number = keptLogs - 2; number >= 0; number--) this.#renumber(number)
      const log = new RequestLog(openPrivate(this.#path(0), 'w'), this.#logger)
      log.write({ model_config: config, input })
      return log
    } catch (err) {
      this.#logger.warn('model call not logged', { err })
      return new RequestLog(undefined, this.#logger)
    }
  }

  #renumber(number: number): void {
    try {
      renameSync(this.#path(number), this.#path(number + 1))
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }

  #path(number: number): string {
    return join(this.#directory, `llm_request.${number}.jsonl`)
  }
}

/** The log of one call. It keeps writing to its file when the file is renamed. */
export class RequestLog {
  #file: number | undefined
  readonly #logger: Logger

  constructor(file: number | undefined, logger: Logger) {
    this.#file = file
    this.#logger = logger
  }

  piece({ id, content, usage }: Piece): void {
    this.write({
      data: content === null ? null : { id, role: 'assistant', created: Math.floor(Date.now() / 1000), content, metadata: visibleToBoth },
      usage: usage === null ? null : { input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.total },
    })
  }

  failed(error: unknown): void {
    this.write({ error: error instanceof Error ? error.message : String(error) })
  }

  write(line: JsonObject): void {
    if (this.#file === undefined) return
    try {
      writeSync(this.#file, `${stringifyJson(line)}\n`)
    } catch (err) {
      this.#logger.warn('model call not logged', { err })
      this.close()
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}
