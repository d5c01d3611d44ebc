import { describe, expect, it } from 'vitest'
import type { Message } from '../../domain/message/message.ts'
import { line } from '../../testing/chat-app.ts'
import { contextNote, localTime, withNote } from '../turn/context-note.ts'
import { repairHistory } from './repair-history.ts'
import { newMessage } from '../../domain/message/new-message.ts'
import { systemPrompt } from '../turn/system-prompt.ts'

const call = (id: string): Message['content'][number] => ({ type: 'toolRequest', id, toolCall: { status: 'success', value: { name: 't' } } })
const result = (id: string): Message['content'][number] => ({ type: 'toolResponse', id, toolResult: { status: 'success', value: [] } })
const text = (value: string): Message['content'][number] => ({ type: 'text', text: value })
const user = (...content: Message['content']): Message => newMessage('user', content)
const assistant = (...content: Message['content']): Message => newMessage('assistant', content)

/** Messages in the notation of the table below. */
function brief(messages: readonly Message[]): string[] {
  return messages.map((message) => line(message).replace(/ \{[^|]*\}(?= \||$)/g, ''))
}

describe('repairHistory (M18)', () => {
  it.each<[string, Message[], string[]]>([
    ['keeps what is well-formed', [user(text('a')), assistant(text('b')), user(text('c'))], ['user: a', 'assistant: b', 'user: c']],
    ['begins and ends with the user', [assistant(text('a')), user(text('b')), assistant(text('c'))], ['user: b']],
    ['is never empty', [assistant(text('a'))], ['user: Hello']],
    ['leaves out what the agent may not see', [user(text('a')), newMessage('user', [text('b')], { userVisible: true, agentVisible: false })], ['user: a']],
    [
      'joins and trims texts of the assistant',
      [user(text('a')), assistant(text('b '), text('c \n')), user(text('d '))],
      ['user: a', 'assistant: b c', 'user: d '],
    ],
    ['joins neighbours', [user(text('a')), user(text('b')), assistant(text('  ')), user(text('c'))], ['user: a | b | c']],
    [
      'drops calls without a result, and results without a call',
      [user(text('a')), assistant(text('b'), call('1'), call('2')), user(result('2'), result('3'))],
      ['user: a', 'assistant: b | call 2', 'user: result 2'],
    ],
    ['drops results that come before their call', [user(text('a'), result('1')), assistant(call('1'))], ['user: a']],
    [
      'does not join results with what the user says',
      [user(text('a')), assistant(call('1')), user(result('1')), user(text('b'))],
      ['user: a', 'assistant: call 1', 'user: result 1', 'user: b'],
    ],
    ['drops calls of the user, and results of the assistant', [user(text('a'), call('1'), result('1')), assistant(text('b'), call('2'), result('2')), user(text('c'))], ['user: a', 'assistant: b', 'user: c']],
    ['drops messages of the user that say nothing', [user(text('a')), user(text(''), text(''))], ['user: a']],
  ])('%s', (_, given, want) => {
    expect(brief(repairHistory(given))).toEqual(want)
  })

  it('takes linear time, however much it removes', () => {
    const numbers = Array.from({ length: 20_000 }, (_, i) => String(i))
    const pairs = numbers.flatMap((id) => [assistant(call(id)), user(result(id))])
    expect(brief(repairHistory([...pairs, user(text('a'))]))).toEqual(['user: a'])
    const neighbours = repairHistory(numbers.flatMap((id) => [user(text(id)), assistant(text(' '))]))
    expect(neighbours.map(({ content }) => content.length)).toEqual([20_000])
  })

  it('does not change the conversation', () => {
    const given = [user(text('a')), assistant(text('b '))]
    repairHistory(given)
    expect(brief(given)).toEqual(['user: a', 'assistant: b '])
  })
})

describe('the context note (M19)', () => {
  it('has the local time in whole seconds', () => {
    const now = new Date('2026-11-20T19:15:00.900Z')
    expect(new Date(localTime(now)).toISOString()).toBe('2026-11-20T19:15:00.000Z')
    expect(contextNote(now, '/w', ['Todo list:\nx'])).toBe(
      `<context>\nDate and time: ${localTime(now)}\nWorking directory: /w\nTodo list:\nx\n</context>`,
    )
  })

  it.each<[string, Message[], string[]]>([
    ['before everything', [user(text('a'))], ['user: NOTE | a']],
    ['after the preceding user message', [user(text('a')), assistant(text('b')), user(text('c'))], ['user: a | NOTE', 'assistant: b', 'user: c']],
    [
      'as a separate message between results and the assistant',
      [user(text('a')), assistant(call('1')), user(result('1')), assistant(text('b')), user(text('c'))],
      ['user: a', 'assistant: call 1', 'user: result 1', 'user: NOTE', 'assistant: b', 'user: c'],
    ],
  ])('is inserted %s', (_, given, want) => {
    expect(brief(withNote(given, 'NOTE'))).toEqual(want)
  })
})

describe('the system prompt (M16)', () => {
  it('has its blocks in order, each trimmed at its end', () => {
    const instructions = new Map([['b', 'B \n'], ['a', 'A'], ['c', ' ']])
    const prompt = systemPrompt({ instructions, added: ['added\n'], outputSchema: '{}', hints: '### Project Hints\nBe brief.' })
    expect(prompt.split('\n\n').slice(1)).toEqual([
      '# Extension a\nA', '# Extension b\nB', 'added', 'When the work is done, call the tool recipe__final_output once, with the final output. It has to match this schema:\n{}',
      '### Project Hints\nBe brief.',
    ])
  })
})
