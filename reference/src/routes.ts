import { addExtension, removeExtension } from './handlers/agents/extensions.ts'
import {
  resumeAgent, startAgent, stopAgent, updateFromSession, updateRouterToolSelector, type AgentDeps,
} from './handlers/agents/handlers.ts'
import { updateProvider } from './handlers/agents/provider.ts'
import { listAgentTools } from './handlers/agents/tool-list.ts'
import { openClientSocket, type ClientSocketDeps } from './handlers/client-tools/client-socket.ts'
import { execute, type ExecuteDeps } from './handlers/client-tools/execute.ts'
import { answerPermission, listAllTools, listTools, register, reportProgress, submitResult, unregister } from './handlers/client-tools/handlers.ts'
import { pendingRequests } from './handlers/client-tools/pending-stream.ts'
import { callServerTool, type ServerCallDeps } from './handlers/client-tools/server-call.ts'
import { listServerTools } from './handlers/client-tools/server-tools.ts'
import { addConfiguredExtension, listConfiguredExtensions, removeConfiguredExtension } from './handlers/config/extensions.ts'
import { backupConfig, initConfig, recoverConfig, validateConfig } from './handlers/config/files.ts'
import { createCustomProvider, getCustomProvider, removeCustomProvider, updateCustomProvider } from './handlers/config/custom-providers.ts'
import { getPricing } from './handlers/config/pricing.ts'
import { checkProvider, detectProvider, listProviderModels, listProviders, setProvider } from './handlers/config/providers.ts'
import { getConfig, readConfig, removeConfig, upsertConfig } from './handlers/config/settings.ts'
import { listSlashCommands, upsertPermissions } from './handlers/config/tools.ts'
import { directoryEvents, globalEvents } from './handlers/events/event-streams.ts'
import { confirmTool, reply } from './handlers/reply/handlers.ts'
import {
  deleteSession, editMessage, exportSession, getInsights, getSession, importSession, listSessions, setName, setRecipeValues,
} from './handlers/sessions/handlers.ts'
import { diagnostics, type DiagnosticsDeps } from './handlers/status/diagnostics.ts'
import { status } from './handlers/status/status.ts'
import { route } from './httpapi/operation.ts'
import type { Route } from './httpapi/router.ts'
import type { Prices } from './pricing/prices.ts'

/** The operations of client tools and events, and `/status`, which needs neither a key nor the store. */
export function clientToolRoutes(deps: ExecuteDeps & ClientSocketDeps): Route[] {
  return [
    route('POST', '/client-tools/register', register(deps)),
    route('DELETE', '/client-tools/unregister', unregister(deps)),
    route('POST', '/client-tools/result', submitResult(deps)),
    route('POST', '/client-tools/progress', reportProgress(deps)),
    route('POST', '/client-tools/execute', execute(deps)),
    route('GET', '/client-tools/tools', listAllTools(deps)),
    route('GET', '/client-tools/tools/{clientID}', listTools(deps)),
    route('GET', '/client-tools/pending/{clientID}', pendingRequests(deps)),
    route('GET', '/client-tools/ws/{clientID}', openClientSocket(deps)),
    route('POST', '/session/{sessionID}/permissions/{permissionID}', answerPermission(deps)),
    route('GET', '/event', directoryEvents(deps)),
    route('GET', '/global/event', globalEvents(deps)),
    route('GET', '/status', status),
  ]
}

/** The operations of the goose server. A path with a parameter comes after the fixed paths that it would match (GA 2.1). */
export function gooseRoutes(deps: AgentDeps & DiagnosticsDeps & ServerCallDeps & { prices: Prices }): Route[] {
  return [
    route('GET', '/client-tools/server-tools', listServerTools(deps)),
    route('POST', '/client-tools/call', callServerTool(deps)),
    route('GET', '/diagnostics/{session_id}', diagnostics(deps)),
    route('POST', '/agent/start', startAgent(deps)),
    route('POST', '/agent/resume', resumeAgent(deps)),
    route('POST', '/agent/update_from_session', updateFromSession(deps)),
    route('GET', '/agent/tools', listAgentTools(deps)),
    route('POST', '/agent/update_provider', updateProvider(deps)),
    route('POST', '/agent/update_router_tool_selector', updateRouterToolSelector(deps)),
    route('POST', '/agent/add_extension', addExtension(deps)),
    route('POST', '/agent/remove_extension', removeExtension(deps)),
    route('POST', '/agent/stop', stopAgent(deps)),
    route('POST', '/reply', reply(deps)),
    route('POST', '/action-required/tool-confirmation', confirmTool(deps)),
    route('GET', '/sessions', listSessions(deps)),
    route('POST', '/sessions/import', importSession(deps)),
    route('GET', '/sessions/insights', getInsights(deps)),
    route('GET', '/sessions/{session_id}', getSession(deps)),
    route('DELETE', '/sessions/{session_id}', deleteSession(deps)),
    route('GET', '/sessions/{session_id}/export', exportSession(deps)),
    route('PUT', '/sessions/{session_id}/name', setName(deps)),
    route('PUT', '/sessions/{session_id}/user_recipe_values', setRecipeValues(deps)),
    route('POST', '/sessions/{session_id}/edit_message', editMessage(deps)),
    route('GET', '/config', getConfig(deps)),
    route('POST', '/config/read', readConfig(deps)),
    route('POST', '/config/upsert', upsertConfig(deps)),
    route('POST', '/config/remove', removeConfig(deps)),
    route('POST', '/config/init', initConfig(deps)),
    route('GET', '/config/validate', validateConfig(deps)),
    route('POST', '/config/backup', backupConfig(deps)),
    route('POST', '/config/recover', recoverConfig(deps)),
    route('GET', '/config/extensions', listConfiguredExtensions(deps)),
    route('POST', '/config/extensions', addConfiguredExtension(deps)),
    route('DELETE', '/config/extensions/{name}', removeConfiguredExtension(deps)),
    route('POST', '/config/permissions', upsertPermissions(deps)),
    route('GET', '/config/slash_commands', listSlashCommands(deps)),
    route('GET', '/config/providers', listProviders(deps)),
    route('GET', '/config/providers/{name}/models', listProviderModels(deps)),
    route('POST', '/config/check_provider', checkProvider(deps)),
    route('POST', '/config/set_provider', setProvider(deps)),
    route('POST', '/config/detect-provider', detectProvider(deps)),
    route('POST', '/config/pricing', getPricing(deps)),
    route('POST', '/config/custom-providers', createCustomProvider(deps)),
    route('GET', '/config/custom-providers/{id}', getCustomProvider(deps)),
    route('PUT', '/config/custom-providers/{id}', updateCustomProvider(deps)),
    route('DELETE', '/config/custom-providers/{id}', removeCustomProvider(deps)),
  ]
}
