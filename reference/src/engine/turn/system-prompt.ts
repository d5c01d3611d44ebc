import { isBlank, trimmedEnd } from '../../text/white-space.ts'
import { compareBytes } from '../../text/compare-bytes.ts'

const identity = 'You are goose, an AI agent. You help people with their work, and you act through the tools that you are given.'
const finalOutput =
  'When the work is done, call the tool recipe__final_output once, with the final output. It has to match this schema:\n'

/** The parts of a system prompt. */
interface PromptParts {
  /** The instructions of extensions, by key. */
  instructions: ReadonlyMap<string, string>
  /** Texts that clients have added. */
  added: readonly string[]
  /** The schema of the final output as the model sees it; undefined if none is required. */
  outputSchema: string | undefined
  /** The texts of hint files; empty if there are none. */
  hints: string
}

/** The system prompt of a reply (M16). */
export function systemPrompt({ instructions, added, outputSchema, hints }: PromptParts): string {
  const extensions = [...instructions]
    .filter(([, text]) => !isBlank(text))
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([key, text]) => `# Extension ${key}\n${text}`)
  const blocks = [identity, ...extensions, ...added, ...(outputSchema === undefined ? [] : [finalOutput + outputSchema]), ...(hints === '' ? [] : [hints])]
  return blocks.map((block) => trimmedEnd(block)).join('\n\n')
}
