import type { Logger } from '../log.ts'
import type { ExportSettings, Signal } from './settings.ts'

/** The result of an export; the code of a success is 0. */
interface ExportResult {
  code: number
  error?: Error
}

interface Exporter<Items> {
  export: (items: Items, done: (result: ExportResult) => void) => void
}

/** Makes an exporter log its first failure after a success, or after the start (T11). The line is not exported. */
export function reportFailures<Items>(exporter: Exporter<Items>, signal: Signal, { url }: ExportSettings, logger: Logger): void {
  const send = exporter.export.bind(exporter)
  let isFailing = false
  exporter.export = (items, done) => {
    send(items, (result) => {
      const hasFailed = result.code !== 0
      if (hasFailed && !isFailing) logger.warn('export failed', { signal, endpoint: new URL(url).origin, reason: reasonOf(result.error) })
      isFailing = hasFailed
      done(result)
    })
  }
}

/** The words of a collector are not shown: they may repeat what it was sent. */
function reasonOf(error: Error | undefined): string {
  const code: unknown = error !== undefined && 'code' in error ? error.code : undefined
  if (typeof code === 'number') return `status ${code}`
  if (typeof code === 'string') return code
  return error?.name === 'OTLPExporterError' ? 'not accepted in time' : (error?.message ?? 'unknown')
}
