import { anything, jsonObject, nullable, omittable, oneOf, string, tagged, type Shape } from '../../wire/json/shape.ts'
import type * as contract from '#contract'
import { annotations } from './annotations.ts'
import { toolCall, toolResult } from './result.ts'

/** One item of a message (GA 4.2). Optional members that are missing are omitted, except `prompt`, which is written as null. */
export type MessageContent = contract.MessageContent

/** The items of one type. */
export type ContentOf<T extends MessageContent['type']> = Extract<MessageContent, { type: T }>

const toolConfirmation = { id: string, toolName: string, arguments: jsonObject, prompt: nullable(string) }

/** What a person has to do before the agent continues (GA 4.4). Its keys mix camelCase and snake_case. */
const actionRequired = tagged<contract.ActionRequiredData, 'actionType'>('actionType', {
  toolConfirmation,
  elicitation: { id: string, message: string, requested_schema: anything },
  elicitationResponse: { id: string, user_data: anything },
})

const visibleText: Shape<string> = (place) => normalised(string(place))

export const messageContent: Shape<MessageContent> = tagged<MessageContent, 'type'>('type', {
  text: { text: visibleText, annotations: omittable(annotations), _meta: omittable(jsonObject) },
  image: { data: string, mimeType: string, annotations: omittable(annotations), _meta: omittable(jsonObject) },
  toolRequest: { id: string, toolCall, thoughtSignature: omittable(string) },
  toolResponse: { id: string, toolResult },
  toolConfirmationRequest: toolConfirmation,
  actionRequired: { data: actionRequired },
  frontendToolRequest: { id: string, toolCall },
  thinking: { thinking: string, signature: string },
  redactedThinking: { data: string },
  systemNotification: { notificationType: oneOf('thinkingMessage', 'inlineMessage'), msg: string },
})

/**
 * The text in Unicode's composed form, without the characters of the block Tags, which are invisible but which models read
 * (GA 4.1). Composing comes first: no character composes to a Tags character.
 */
export function normalised(text: string): string {
  return text.normalize('NFC').replace(/[\u{E0000}-\u{E007F}]/gu, '')
}
