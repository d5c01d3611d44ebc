import { existsSync } from 'node:fs'
import { textOf } from '../../llm/model.ts'
import type { Logger } from '../../log.ts'
import type { Message } from '../../domain/message/message.ts'
import { UnreadableRecipeError } from '../../domain/recipe/recipe-file.ts'
import { recipeCommands } from '../../domain/recipe/recipe-commands.ts'
import type { Recipe } from '../../domain/recipe/recipe.ts'
import type { RecipeWorker } from '../../domain/recipe/recipe-worker.ts'
import type { Settings } from '../../settings/settings.ts'
import { trimmed, wordsOf } from '../../text/white-space.ts'
import { newMessage } from '../../domain/message/new-message.ts'

const compactWords = ['/compact', '/summarize', 'Please compact this conversation']

/** Whether a message asks for a compaction and nothing else (GA 7.10). */
export function asksToCompact({ content }: Message): boolean {
  return compactWords.includes(trimmed(textOf(content)))
}

/** The answer to an MCP server's question, if the message contains one (GA 8.3). */
export function elicitationAnswer({ content }: Message): { id: string; data: unknown } | undefined {
  for (const item of content) {
    if (item.type === 'actionRequired' && item.data.actionType === 'elicitationResponse') {
      return { id: item.data.id, data: item.data.user_data }
    }
  }
  return undefined
}

interface CommandDeps {
  settings: Settings
  recipeWorker: RecipeWorker
  logger: Logger
}

/** The messages to save for a user's message: first the recipe of its slash command, if any, then the message itself (GA 7.11). */
export async function messagesToSave(message: Message, deps: CommandDeps): Promise<Message[]> {
  const said = { ...message, id: null }
  const recipe = await recipeOfCommand(trimmed(textOf(message.content)), deps)
  if (recipe === undefined) return [said]
  const order = [recipe.instructions, recipe.prompt].filter((text) => text !== undefined).join('\n\n')
  return [
    newMessage('user', [{ type: 'text', text: order }], { userVisible: false, agentVisible: true }),
    { ...said, metadata: { userVisible: true, agentVisible: false } },
  ]
}

/** The recipe named by a text such as `/name …`; undefined for any other text. */
async function recipeOfCommand(text: string, { settings, recipeWorker, logger }: CommandDeps): Promise<Recipe | undefined> {
  if (!text.startsWith('/')) return undefined
  const command = (wordsOf(text)[0] ?? '').replace(/^\/+/, '').toLowerCase()
  const path = pathOfCommand(command, settings)
  if (path === undefined || !existsSync(path)) return undefined
  try {
    return await recipeWorker.run('read', { path })
  } catch (err) {
    if (!(err instanceof UnreadableRecipeError)) throw err
    logger.warn('slash command without a recipe', { err })
    return undefined
  }
}

/** The path of the command's recipe. The first mapping of a command counts. */
function pathOfCommand(command: string, settings: Settings): string | undefined {
  return recipeCommands(settings).find((one) => one.command === command)?.path
}
