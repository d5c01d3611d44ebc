import type * as contract from '#contract'
import { isMissing } from '../../error-code.ts'
import { fileExists } from '../../file-exists.ts'
import { operation, type Operation } from '../../httpapi/operation.ts'
import { backUp, configFile } from '../../settings/config-file.ts'
import { readUtf8File } from '../../settings/regular-file.ts'
import { largeYaml, parseYamlInThread } from '../../wire/yaml/yaml-thread.ts'
import { parseYaml } from '../../wire/yaml/yaml.ts'
import type { ConfigDeps } from './settings.ts'

/** `POST /config/init` (GA 10.5). This server has no initial settings, so it writes nothing. */
export function initConfig(
  { settings }: ConfigDeps,
): Operation<contract.InitConfigData, contract.InitConfigResponses, contract.InitConfigErrors> {
  return operation(() => ({
    status: 200,
    body: fileExists(configFile(settings.paths.config)) ? 'Config already exists' : 'No init-config.yaml found, using default configuration',
  }))
}

/** `GET /config/validate` (GA 10.6). The file is not repaired. */
export function validateConfig(
  { settings }: ConfigDeps,
): Operation<contract.ValidateConfigData, contract.ValidateConfigResponses, contract.ValidateConfigErrors> {
  return operation(async ({ errors }) => {
    let bytes: Buffer
    try {
      bytes = readUtf8File(configFile(settings.paths.config))
    } catch (cause) {
      if (isMissing(cause)) return { status: 200, body: 'Config file does not exist' }
      throw errors.bare(500, 'settings not read', { cause, isLogged: true })
    }
    try {
      if (bytes.length > largeYaml) await parseYamlInThread(bytes)
      else parseYaml(bytes)
    } catch (cause) {
      throw cause instanceof SyntaxError ? errors.bare(422, 'the file is not YAML', { cause }) : cause
    }
    return { status: 200, body: 'Config file is valid' }
  })
}

/** `POST /config/backup` (GA 10.7). */
export function backupConfig(
  { settings }: ConfigDeps,
): Operation<contract.BackupConfigData, contract.BackupConfigResponses, contract.BackupConfigErrors> {
  return operation(({ errors }) => {
    try {
      const { from, to } = backUp(settings.paths.config)
      return { status: 200, body: `Copied ${quotedPath(from)} to ${quotedPath(to)}` }
    } catch (cause) {
      throw errors.bare(500, 'settings not copied', { cause, isLogged: true })
    }
  })
}

function quotedPath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`
}

/** `POST /config/recover` (GA 10.8). Reading the settings repairs their file. */
export function recoverConfig(
  { settings }: ConfigDeps,
): Operation<contract.RecoverConfigData, contract.RecoverConfigResponses, contract.RecoverConfigErrors> {
  return operation(({ errors }) => {
    let keys: string[]
    try {
      keys = Object.keys(settings.stored())
    } catch (cause) {
      throw errors.bare(500, 'settings not read', { cause, isLogged: true })
    }
    const found = `. Recovered ${keys.length} keys: ${keys.join(', ')}`
    const nothing = ', but no data was recoverable. Starting with empty configuration.'
    return { status: 200, body: `Config recovery completed${keys.length > 0 ? found : nothing}` }
  })
}
