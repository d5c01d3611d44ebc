import { describe, expect, it } from 'vitest'
import { ShapeError, readShape } from './json/shape.ts'
import { dateTime, inSeconds } from './date-time.ts'

describe('a date-time (GA 2.8)', () => {
  it.each([
    ['2025-12-10T16:59:31Z', '2025-12-10T16:59:31Z'],
    ['2025-12-10t16:59:31.120+02:30', '2025-12-10T14:29:31.120Z'],
    ['2025-12-31 23:59:59.0001-00:01', '2026-01-01T00:00:59.000100Z'],
    ['2024-02-29T00:00:00.1234567891Z', '2024-02-29T00:00:00.123456789Z'],
    ['0099-01-01T00:00:00.000Z', '0099-01-01T00:00:00Z'],
  ])('%s is %s', (text, utc) => {
    expect(readShape(dateTime, text)).toBe(utc)
  })

  it.each([
    '', '2025-12-10', '2025-12-10T16:59:31', '2025-02-29T00:00:00Z', '2025-13-01T00:00:00Z', '2025-12-10T24:00:00Z', '2025-12-10T23:60:00Z',
    '2025-12-10T16:59:31+24:00', '2025-12-10T16:59:31.Z', '9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00+01:00', 5, null,
  ])('%j is not a date-time', (value) => {
    expect(() => readShape(dateTime, value)).toThrow(ShapeError)
  })

  it('of the current time has no fraction', () => {
    expect(inSeconds(new Date('2025-12-10T16:59:31.999Z'))).toBe('2025-12-10T16:59:31Z')
  })
})
