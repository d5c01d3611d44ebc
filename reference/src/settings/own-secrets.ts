import type { Environment } from './paths.ts'

/** The header fields of exports, which may authenticate the server (T5). The second and later ones are of one signal. */
export const exportHeaderVariables = [
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
  'OTEL_EXPORTER_OTLP_LOGS_HEADERS',
] as const

/** The variables with this server's own secrets. No setting and no secret has their names (G32, G43, T5). */
const ownSecrets: ReadonlySet<string> = new Set(['GOOSE_SERVER__SECRET_KEY', ...exportHeaderVariables])

/** Whether a variable has a secret of the server itself. */
export function isOwnSecret(variable: string): boolean {
  return ownSecrets.has(variable)
}

/** The environment of a process that the server starts. */
export function withoutOwnSecrets(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]): [string, string][] => (value === undefined || isOwnSecret(name) ? [] : [[name, value]])),
  )
}
