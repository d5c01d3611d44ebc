export type Level = 'info' | 'warn' | 'error'

/** The values of a log line. An Error is written with its stack. */
export type Fields = Record<string, unknown>

/** Messages are in lower case, without a full stop. They contain no values; values are fields. */
export type Logger = Record<Level, (message: string, fields?: Fields) => void>

/** A logger that writes one JSON object per line. `more` has further members of the line that is written now. */
export function jsonLogger(write: (line: string) => void, now = () => new Date(), more?: () => Fields | undefined): Logger {
  const at =
    (level: Level) =>
    (msg: string, fields: Fields = {}): void => {
      const line = { time: now().toISOString(), level, msg, ...fields, ...more?.() }
      write(JSON.stringify(line, (_, value: unknown) => (value instanceof Error ? describe(value) : value)) + '\n')
    }
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

function describe(error: Error): string {
  const text = error.stack ?? `${error.name}: ${error.message}`
  return error.cause instanceof Error ? `${text}\ncaused by ${describe(error.cause)}` : text
}
