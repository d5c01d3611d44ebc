import { exportHeaderVariables } from '../settings/own-secrets.ts'
import type { Logger } from '../log.ts'
import type { Sdk } from './sdk.ts'
import type { TelemetrySettings } from './settings.ts'

/** Starts what the settings want. Its libraries are loaded only now, because most servers do not need them. */
export async function startTelemetry(settings: TelemetrySettings, logger: Logger): Promise<Sdk> {
  // The exporters would add the header fields of all signals to those of one, which come in their place (T5).
  for (const name of exportHeaderVariables) Reflect.deleteProperty(process.env, name)
  const { Sdk: Started } = await import('./sdk.ts')
  return new Started(settings, logger)
}
