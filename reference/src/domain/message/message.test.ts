import { describe, expect, it } from 'vitest'
import { JsonDocument } from '../../wire/json/document.ts'
import { ShapeError, readShape } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { message } from './message.ts'

/** The message as the server writes it, or the text of the error. */
function read(text: string): string {
  const document = new JsonDocument(text)
  try {
    return stringifyJson(readShape(message, document.value, document))
  } catch (error) {
    if (error instanceof ShapeError) return error.message.replace(/ at line.*/, '')
    throw error
  }
}

/** A message with this content. Its members are in the order in which the server writes them. */
function withContent(...items: string[]): string {
  const content = items.join(',')
  return `{"id":null,"role":"user","created":1765386000,"content":[${content}],"metadata":{"userVisible":true,"agentVisible":true}}`
}

const toolCall = '{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}'

describe('a message (GA 4.1)', () => {
  it('is written with all its members', () => {
    const text = '{"metadata":{"agentVisible":false,"userVisible":true,"x":1},"content":[],"created":-5,"role":"assistant","more":[]}'
    expect(read(text)).toBe('{"id":null,"role":"assistant","created":-5,"content":[],"metadata":{"userVisible":true,"agentVisible":false}}')
    expect(read(withContent().replace('null', '"m"'))).toContain('"id":"m"')
    expect(read(withContent().replace('1765386000', '9007199254740993'))).toContain('"created":9007199254740993,')
  })

  it.each([
    ['"role":"user"', '"role":"system"', 'role: unknown variant `system`, expected one of `user`, `assistant`'],
    ['"role":"user",', '', 'missing field `role`'],
    ['"created":1765386000,', '', 'missing field `created`'],
    ['1765386000', '1765386000.5', 'created: invalid type: number, expected an integer'],
    ['1765386000', '"1"', 'created: invalid type: string, expected an integer'],
    ['"content":[],', '', 'missing field `content`'],
    ['[]', 'null', 'content: invalid type: null, expected an array'],
    [',"metadata":{"userVisible":true,"agentVisible":true}', '', 'missing field `metadata`'],
    [',"agentVisible":true', '', 'metadata: missing field `agentVisible`'],
    ['"userVisible":true,', '', 'metadata: missing field `userVisible`'],
    ['"id":null', '"id":5', 'id: invalid type: number, expected a string'],
  ])('with %s replaced by %s is rejected', (old, replacement, reason) => {
    expect(read(withContent().replace(old, replacement))).toBe(reason)
  })
})

describe('content (GA 4.2)', () => {
  it.each([
    '{"type":"text","text":"hi"}',
    '{"type":"text","text":"hi","annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2025-12-10T16:59:31Z"},"_meta":{"a":[1]}}',
    '{"type":"image","data":"iVBO","mimeType":"image/png"}',
    `{"type":"toolRequest","id":"call_1","toolCall":${toolCall}}`,
    `{"type":"toolRequest","id":"call_1","toolCall":{"status":"success","value":{"name":"x"}},"thoughtSignature":"s"}`,
    '{"type":"toolRequest","id":"call_1","toolCall":{"status":"error","error":"-32602: bad"}}',
    '{"type":"toolResponse","id":"call_1","toolResult":{"status":"success","value":[]}}',
    '{"type":"toolResponse","id":"call_2","toolResult":{"status":"error","error":"-32603: boom"}}',
    '{"type":"toolConfirmationRequest","id":"c","toolName":"t","arguments":{},"prompt":null}',
    '{"type":"actionRequired","data":{"actionType":"toolConfirmation","id":"c","toolName":"t","arguments":{"a":1},"prompt":"p"}}',
    '{"type":"actionRequired","data":{"actionType":"elicitation","id":"e","message":"Your name?","requested_schema":{"type":"object"}}}',
    '{"type":"actionRequired","data":{"actionType":"elicitationResponse","id":"e","user_data":{"name":"x"}}}',
    '{"type":"actionRequired","data":{"actionType":"elicitationResponse","id":"e","user_data":null}}',
    `{"type":"frontendToolRequest","id":"call_3","toolCall":${toolCall}}`,
    '{"type":"thinking","thinking":"t","signature":"s"}',
    '{"type":"redactedThinking","data":"d"}',
    '{"type":"systemNotification","notificationType":"inlineMessage","msg":"Compaction complete"}',
    '{"type":"systemNotification","notificationType":"thinkingMessage","msg":""}',
  ])('%s is written as it was read', (item) => {
    expect(read(withContent(item))).toBe(withContent(item))
    expect(read(withContent(item.replace('{', '{"more":0,')))).toBe(withContent(item))
  })

  it.each([
    ['{"type":"text","text":"a","annotations":null,"_meta":null}', '{"type":"text","text":"a"}'],
    ['{"type":"text","text":"a","annotations":{}}', '{"type":"text","text":"a","annotations":{}}'],
    ['{"type":"toolRequest","id":"i","toolCall":{"status":"success","value":{"name":"x","arguments":null}},"thoughtSignature":null}',
      '{"type":"toolRequest","id":"i","toolCall":{"status":"success","value":{"name":"x"}}}'],
    ['{"type":"toolConfirmationRequest","id":"c","toolName":"t","arguments":{}}',
      '{"type":"toolConfirmationRequest","id":"c","toolName":"t","arguments":{},"prompt":null}'],
    ['{"type":"text","text":"e\u0301\u{E0041}x\u{E007F}\\uDB40\\uDC00\u{E0080}"}', '{"type":"text","text":"\u00e9x\u{E0080}"}'],
    ['{"type":"thinking","thinking":"e\u0301\u{E0041}","signature":""}', '{"type":"thinking","thinking":"e\u0301\u{E0041}","signature":""}'],
  ])('%s is written as %s', (item, written) => {
    expect(read(withContent(item))).toBe(withContent(written))
  })

  it('of the old type conversationCompacted is dropped', () => {
    expect(read(withContent('{"type":"conversationCompacted","msg":5}', '{"type":"text","text":"a"}'))).toBe(
      withContent('{"type":"text","text":"a"}'),
    )
  })

  it.each([
    ['{}', 'content[0]: missing field `type`'],
    ['5', 'content[0]: invalid type: number, expected an object'],
    ['{"type":"video"}', 'content[0].type: unknown variant `video`, expected one of `text`, `image`, `toolRequest`, `toolResponse`, `toolConfirmationRequest`, `actionRequired`, `frontendToolRequest`, `thinking`, `redactedThinking`, `systemNotification`'],
    ['{"type":"Text","text":""}', 'content[0].type: unknown variant `Text`'],
    ['{"type":"text"}', 'content[0]: missing field `text`'],
    ['{"type":"text","text":null}', 'content[0].text: invalid type: null, expected a string'],
    ['{"type":"text","text":"a","text":"b"}', 'content[0]: duplicate field `text`'],
    ['{"type":"text","text":"a","_meta":[]}', 'content[0]._meta: invalid type: array, expected an object'],
    ['{"type":"text","text":"a","annotations":{"audience":["me"]}}', 'content[0].annotations.audience[0]: unknown variant `me`, expected one of `user`, `assistant`'],
    ['{"type":"image","data":"x"}', 'content[0]: missing field `mimeType`'],
    ['{"type":"toolRequest","id":"i","toolCall":{"status":"ok"}}', 'content[0].toolCall.status: unknown variant `ok`, expected one of `success`, `error`'],
    ['{"type":"toolRequest","id":"i","toolCall":{"status":"success","value":{"name":"x","arguments":[]}}}', 'content[0].toolCall.value.arguments: invalid type: array, expected an object'],
    ['{"type":"toolRequest","toolCall":{"status":"error","error":""}}', 'content[0]: missing field `id`'],
    ['{"type":"toolResponse","id":"i","toolResult":{"status":"success","value":{"content":[]}}}', 'content[0].toolResult.value: invalid type: object, expected an array'],
    ['{"type":"toolConfirmationRequest","id":"i","toolName":"t"}', 'content[0]: missing field `arguments`'],
    ['{"type":"actionRequired","data":{"actionType":"wait"}}', 'content[0].data.actionType: unknown variant `wait`, expected one of `toolConfirmation`, `elicitation`, `elicitationResponse`'],
    ['{"type":"actionRequired","data":{"actionType":"elicitation","id":"e","message":"m"}}', 'content[0].data: missing field `requested_schema`'],
    ['{"type":"thinking","thinking":""}', 'content[0]: missing field `signature`'],
    ['{"type":"systemNotification","notificationType":"banner","msg":""}', 'content[0].notificationType: unknown variant `banner`, expected one of `thinkingMessage`, `inlineMessage`'],
  ])('%s is rejected', (item, reason) => {
    expect(read(withContent(item))).toContain(reason)
  })
})

describe('the result of a tool (GA 4.5)', () => {
  const inResponse = (item: string): string =>
    withContent(`{"type":"toolResponse","id":"i","toolResult":{"status":"success","value":[${item}]}}`)

  it.each([
    '{"type":"text","text":"a.txt"}',
    '{"type":"text","text":"e\u0301","_meta":{},"annotations":{"priority":1}}',
    '{"type":"image","data":"d","mimeType":"image/png"}',
    '{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"t","_meta":{}},"_meta":{}}',
    '{"type":"resource","resource":{"uri":"file:///a","blob":"b"}}',
    '{"type":"audio","data":"d","mimeType":"audio/wav"}',
    '{"type":"resource_link","uri":"u","name":"n","title":"t","description":"d","mimeType":"m","size":9223372036854775807,"icons":[{"src":"s"},{"src":"s","mimeType":"m","sizes":["48x48","any"]}],"annotations":{}}',
    '{"type":"resource_link","uri":"u","name":"n"}',
  ])('%s is written as it was read', (item) => {
    expect(read(inResponse(item))).toBe(inResponse(item))
  })

  it.each([
    ['{"text":"a"}', 'missing field `type`'],
    ['{"type":"resourceLink","uri":"u","name":"n"}', 'unknown variant `resourceLink`, expected one of `text`, `image`, `resource`, `audio`, `resource_link`'],
    ['{"type":"resource","resource":{"uri":"u"}}', 'resource: missing field `text`'],
    ['{"type":"resource_link","uri":"u","name":"n","size":-1}', 'size: invalid value: integer out of range'],
    ['{"type":"resource_link","uri":"u","name":"n","icons":[{"src":"s","sizes":"any"}]}', 'icons[0].sizes: invalid type: string, expected an array'],
    ['{"type":"resource_link","uri":"u","name":"n","icons":[{"src":"s","sizes":["a",1]}]}', 'icons[0].sizes[1]: invalid type: number, expected a string'],
    ['{"type":"audio","data":"d"}', 'missing field `mimeType`'],
  ])('%s is rejected', (item, reason) => {
    expect(read(inResponse(item))).toContain(reason)
  })
})
