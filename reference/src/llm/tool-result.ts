import type { ContentOf } from '../domain/message/content.ts'
import type { Result } from '../domain/message/result.ts'
import type { ToolContent, ToolImage } from '../domain/message/tool-content.ts'

/** The text of a tool result, as a model reads it (M12). */
export function resultText(result: Result<ToolContent[]>): string {
  if (result.status === 'error') return `Error: ${result.error}`
  return forModels(result.value).map(partText).join('\n')
}

/** The images of a result, which cannot be part of its text. */
export function resultImages({ toolResult: result }: ContentOf<'toolResponse'>): ToolImage[] {
  return result.status === 'error' ? [] : forModels(result.value).filter((part) => part.type === 'image')
}

function forModels(parts: readonly ToolContent[]): ToolContent[] {
  return parts.filter(({ annotations }) => annotations?.audience?.includes('assistant') ?? true)
}

function partText(part: ToolContent): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'image':
      return '[image]'
    case 'audio':
      return '[audio]'
    case 'resource':
      return 'text' in part.resource ? part.resource.text : `[resource ${part.resource.uri}]`
    case 'resource_link':
      return `[resource ${part.uri}]`
    default:
      return part satisfies never
  }
}
