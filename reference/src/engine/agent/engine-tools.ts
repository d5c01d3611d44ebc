import type { McpTool } from '../../domain/extension/config.ts'
import type { FinalOutputSchema } from '../../domain/recipe/json-schema.ts'
import type { Agent } from './agent.ts'

const texts = { type: 'string' }

/** The tools of the engine itself, as the model sees them (GA 18.3). Their texts are in docs/behaviour/goose-api.md. */
const manageSchedule: McpTool = {
  name: 'platform__manage_schedule',
  description: 'Manages the scheduled recipes of this server.',
  inputSchema: {
    type: 'object',
    properties: {
      action: {
        type: 'string',
        enum: ['list', 'create', 'run_now', 'pause', 'unpause', 'delete', 'kill', 'inspect', 'sessions', 'session_content'],
      },
      job_id: texts,
      recipe_path: texts,
      cron_expression: texts,
      limit: { type: 'integer' },
      session_id: texts,
    },
    required: ['action'],
  },
}

const createTask: McpTool = {
  name: 'dynamic_task__create_task',
  description: 'Creates tasks that sub-agents can run.',
  inputSchema: {
    type: 'object',
    properties: { task_parameters: { type: 'array', items: { type: 'object' } } },
    required: ['task_parameters'],
  },
}

const executeTask: McpTool = {
  name: 'subagent__execute_task',
  description: 'Runs tasks in sub-agents and returns their results.',
  inputSchema: {
    type: 'object',
    properties: {
      task_ids: { type: 'array', items: texts },
      execution_mode: { type: 'string', enum: ['sequential', 'parallel'] },
    },
    required: ['task_ids'],
  },
}

/** The tools of `extension_name=platform` (GA 6.4). */
export const platformTools: readonly McpTool[] = [manageSchedule, createTask]

/** The tools of an agent's sub-recipes. They are listed, but not offered to models (M45). */
export function subRecipeTools(agent: Agent): McpTool[] {
  return [...agent.subRecipes.values()].map(({ name, description }) => ({
    name: `subrecipe__create_task_${name}`,
    description: description ?? `Creates tasks that run the recipe ${name}.`,
    inputSchema: createTask.inputSchema,
  }))
}

/** The engine's tools that models may be offered, including the one for this final output. */
export function engineTools(finalOutput: FinalOutputSchema | undefined): McpTool[] {
  const tools = [...platformTools, executeTask]
  return finalOutput === undefined ? tools : [...tools, outputTool(finalOutput)]
}

function outputTool({ schema, shown }: FinalOutputSchema): McpTool {
  const description = 'Gives the final output of the conversation. Call it once, when the work is done. The output has to match this schema:'
  return { name: 'recipe__final_output', description: `${description}\n${shown}`, inputSchema: schema }
}
