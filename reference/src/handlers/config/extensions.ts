import type * as contract from '#contract'
import { extensionConfig } from '../../domain/extension/config.ts'
import { configuredExtensions, entryOf, storeExtension, unstoreExtension } from '../../domain/extension/configured.ts'
import { operation, renderLarge, withBody, type Operation } from '../../httpapi/operation.ts'
import type { Logger } from '../../log.ts'
import { bodyOf, boolean, string } from '../../wire/json/shape.ts'
import type { ConfigDeps } from './settings.ts'

/** `GET /config/extensions` (GA 10.9). */
export function listConfiguredExtensions(
  { settings }: ConfigDeps,
): Operation<contract.GetExtensionsData, contract.GetExtensionsResponses, contract.GetExtensionsErrors> {
  return operation(() => renderLarge({ extensions: configuredExtensions(settings).map(entryOf) }))
}

const addRequest = bodyOf<contract.ExtensionQuery>()({ name: string, config: extensionConfig, enabled: boolean })

/** `POST /config/extensions` (GA 10.10). Agents do not change. A failure to store the extension is only logged. */
export function addConfiguredExtension(
  { settings, logger }: ConfigDeps & { logger: Logger },
): Operation<contract.AddExtensionConfigData, contract.AddExtensionConfigResponses, contract.AddExtensionConfigErrors> {
  return withBody(addRequest, ({ body: { name, config, enabled } }) => {
    const isKnown = storeExtension(settings, name, { enabled, config }, logger)
    return { status: 200, body: `${isKnown ? 'Updated' : 'Added'} extension ${name}` }
  })
}

/** `DELETE /config/extensions/{name}` (GA 10.11). An unknown name is not an error. */
export function removeConfiguredExtension(
  { settings, logger }: ConfigDeps & { logger: Logger },
): Operation<contract.RemoveExtensionConfigData, contract.RemoveExtensionConfigResponses, contract.RemoveExtensionConfigErrors> {
  return operation(({ path: { name } }) => {
    unstoreExtension(settings, name, logger)
    return { status: 200, body: `Removed extension ${name}` }
  })
}
