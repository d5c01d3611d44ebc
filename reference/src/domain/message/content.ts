import { anything, jsonObject, nullable, object, omittable, oneOf, string, tagged } from '../../wire/json/shape.ts'
import type * as contract from '#contract'
import type { Shape } from '../../wire/json/shape.ts'
import { annotations } from './annotations.ts'
import { toolCall, toolResult } from './result.ts'

/** One item of a message (GA 4.2). Optional members that are missing are omitted, except `prompt`, which is written as null. */
export type MessageContent = contract.MessageContent

/** The items of one type. */
export type ContentOf<T extends MessageContent['type']> = Extract<MessageContent, { type: T }>

/** What a person has to do before the agent continues (GA 4.4). Its keys mix camelCase and snake_case. */
type ActionRequired = contract.ActionRequiredData
type Action<T extends ActionRequired['actionType']> = Extract<ActionRequired, { actionType: T }>

const toolConfirmation = { id: string, toolName: string, arguments: jsonObject, prompt: nullable(string) }

const actionRequired: Shape<ActionRequired> = tagged<ActionRequired>('actionType', {
  toolConfirmation: object<Action<'toolConfirmation'>>({ actionType: oneOf('toolConfirmation'), ...toolConfirmation }),
  elicitation: object<Action<'elicitation'>>({
    actionType: oneOf('elicitation'),
    id: string,
    message: string,
    requested_schema: anything,
  }),
  elicitationResponse: object<Action<'elicitationResponse'>>({
    actionType: oneOf('elicitationResponse'),
    id: string,
    user_data: anything,
  }),
})

const visibleText: Shape<string> = (place) => normalised(string(place))

export const messageContent: Shape<MessageContent> = tagged<MessageContent>('type', {
  text: object<ContentOf<'text'>>({
    type: oneOf('text'),
    text: visibleText,
    annotations: omittable(annotations),
    _meta: omittable(jsonObject),
  }),
  image: object<ContentOf<'image'>>({
    type: oneOf('image'),
    data: string,
    mimeType: string,
    annotations: omittable(annotations),
    _meta: omittable(jsonObject),
  }),
  toolRequest: object<ContentOf<'toolRequest'>>({
    type: oneOf('toolRequest'),
    id: string,
    toolCall,
    thoughtSignature: omittable(string),
  }),
  toolResponse: object<ContentOf<'toolResponse'>>({ type: oneOf('toolResponse'), id: string, toolResult }),
  toolConfirmationRequest: object<ContentOf<'toolConfirmationRequest'>>({
    type: oneOf('toolConfirmationRequest'),
    ...toolConfirmation,
  }),
  actionRequired: object<ContentOf<'actionRequired'>>({ type: oneOf('actionRequired'), data: actionRequired }),
  frontendToolRequest: object<ContentOf<'frontendToolRequest'>>({ type: oneOf('frontendToolRequest'), id: string, toolCall }),
  thinking: object<ContentOf<'thinking'>>({ type: oneOf('thinking'), thinking: string, signature: string }),
  redactedThinking: object<ContentOf<'redactedThinking'>>({ type: oneOf('redactedThinking'), data: string }),
  systemNotification: object<ContentOf<'systemNotification'>>({
    type: oneOf('systemNotification'),
    notificationType: oneOf('thinkingMessage', 'inlineMessage'),
    msg: string,
  }),
})

/**
 * The text in Unicode's composed form, without the characters of the block Tags, which are invisible but which models read
 * (GA 4.1). Composing comes first: no character composes to a Tags character.
 */
export function normalised(text: string): string {
  return text.normalize('NFC').replace(/[\u{E0000}-\u{E007F}]/gu, '')
}
