import { describe, expect, it } from 'vitest'
import { jsonLogger } from './log.ts'

describe('jsonLogger', () => {
  it('writes one line per message', () => {
    const lines: string[] = []
    const logger = jsonLogger((line) => lines.push(line), () => new Date(0))
    logger.info('plain')
    logger.warn('with fields', { stream: 'event', text: 'a\nb' })
    const err = new Error('outer', { cause: new Error('inner') })
    err.stack = 'Error: outer\n    at x'
    if (err.cause instanceof Error) delete err.cause.stack
    logger.error('broken', { err })
    expect(lines).toEqual([
      '{"time":"1970-01-01T00:00:00.000Z","level":"info","msg":"plain"}\n',
      '{"time":"1970-01-01T00:00:00.000Z","level":"warn","msg":"with fields","stream":"event","text":"a\\nb"}\n',
      '{"time":"1970-01-01T00:00:00.000Z","level":"error","msg":"broken","err":"Error: outer\\n    at x\\ncaused by Error: inner"}\n',
    ])
  })
})
