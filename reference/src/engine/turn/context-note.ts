import type { Message } from '../../domain/message/message.ts'
import { textMessage } from '../../domain/message/new-message.ts'

/** The note of M19 with the current state for the model. `said` holds the notes of extensions, in the order of their keys. */
export function contextNote(now: Date, workingDirectory: string, said: readonly string[]): string {
  const lines = [`Date and time: ${localTime(now)}`, `Working directory: ${workingDirectory}`, ...said]
  return `<context>\n${lines.map((line) => `${line}\n`).join('')}</context>`
}

/** The local time by RFC 3339, in whole seconds. */
export function localTime(now: Date): string {
  const ahead = -now.getTimezoneOffset()
  const clock = new Date(now.getTime() + ahead * 60_000).toISOString().replace(/\.\d+Z$/, '')
  if (ahead === 0) return `${clock}Z`
  const [hours, minutes] = [Math.floor(Math.abs(ahead) / 60), Math.abs(ahead) % 60].map((part) => String(part).padStart(2, '0'))
  return `${clock}${ahead < 0 ? '-' : '+'}${hours}:${minutes}`
}

/** Inserts a note into a repaired history, as near to its end as possible (M19). */
export function withNote(messages: readonly Message[], note: string): Message[] {
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant')
  const text = { type: 'text', text: note } as const
  if (lastAnswer === -1) {
    return messages.map((message, index) => (index === 0 ? { ...message, content: [text, ...message.content] } : message))
  }
  const before = messages[lastAnswer - 1]
  if (before?.role === 'user' && !before.content.some(({ type }) => type === 'toolResponse')) {
    const noted = { ...before, content: [...before.content, text] }
    return messages.with(lastAnswer - 1, noted)
  }
  return [...messages.slice(0, lastAnswer), textMessage('user', note), ...messages.slice(lastAnswer)]
}
