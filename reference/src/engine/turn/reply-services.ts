import type { RecipeWorker } from '../../domain/recipe/recipe-worker.ts'
import type { Providers } from '../../llm/providers.ts'
import type { Logger } from '../../log.ts'
import type { Settings } from '../../settings/settings.ts'
import type { SessionStore } from '../../store/session-store.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { Agents } from '../agent/agents.ts'
import type { ClientTools } from '../client-tools/client-tools.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { Confirmations } from '../pending/confirmations.ts'
import type { Elicitations } from '../pending/elicitations.ts'
import type { LargeTexts } from './large-texts.ts'
import type { SessionNaming } from './session-naming.ts'

/** The services of the server that replies use. */
export interface ReplyServices {
  store: SessionStore
  settings: Settings
  agents: Agents
  providers: Providers
  naming: SessionNaming
  recipeWorker: RecipeWorker
  confirmations: Confirmations
  elicitations: Elicitations
  largeTexts: LargeTexts
  clientTools: ClientTools
  hooks: Hooks
  logger: Logger
  telemetry: Telemetry | undefined
}
