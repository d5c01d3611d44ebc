import {
  array, boolean, int64From, jsonObject, map, nullable, object, omittable, oneOf, string, tagged, withDefault,
} from '../json/shape.ts'
import type { Field, Int64, JsonObject, Shape } from '../json/shape.ts'
import { icon } from '../message/tool-content.ts'
import type { Icon } from '../message/tool-content.ts'
import { wordsOf } from '../text/white-space.ts'

/** How an agent reaches an extension, with every field of its type (GA 4.9). */
export type ExtensionConfig =
  | SseExtension
  | StdioExtension
  | BuiltinExtension
  | PlatformExtension
  | StreamableHttpExtension
  | FrontendExtension
  | InlinePythonExtension

interface Named {
  name: string
  description: string
}

/** What all types end with, but for Python, which has no `bundled`. */
interface Common {
  bundled: boolean | null
  available_tools: string[]
}

type Texts = Record<string, string>

export interface SseExtension extends Named, Common {
  type: 'sse'
  uri: string
  envs: Texts
  env_keys: string[]
  /** Seconds. */
  timeout: Int64 | null
}

export interface StdioExtension extends Named, Common {
  type: 'stdio'
  cmd: string
  args: string[]
  envs: Texts
  env_keys: string[]
  timeout: Int64 | null
}

export interface BuiltinExtension extends Named, Common {
  type: 'builtin'
  display_name: string | null
  timeout: Int64 | null
}

export interface PlatformExtension extends Named, Common {
  type: 'platform'
}

export interface StreamableHttpExtension extends Named, Common {
  type: 'streamable_http'
  uri: string
  envs: Texts
  env_keys: string[]
  headers: Texts
  timeout: Int64 | null
}

export interface FrontendExtension extends Named, Common {
  type: 'frontend'
  tools: McpTool[]
  instructions: string | null
}

export interface InlinePythonExtension extends Named {
  type: 'inline_python'
  code: string
  timeout: Int64 | null
  dependencies: string[] | null
  available_tools: string[]
}

/** A tool as MCP describes it. */
export interface McpTool {
  name: string
  title?: string
  description?: string
  inputSchema: JsonObject
  outputSchema?: JsonObject
  annotations?: ToolAnnotations
  icons?: Icon[]
  _meta?: JsonObject
}

export interface ToolAnnotations {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

const toolAnnotations: Shape<ToolAnnotations> = object<ToolAnnotations>({
  title: omittable(string),
  readOnlyHint: omittable(boolean),
  destructiveHint: omittable(boolean),
  idempotentHint: omittable(boolean),
  openWorldHint: omittable(boolean),
})

export const mcpTool: Shape<McpTool> = object<McpTool>({
  name: string,
  title: omittable(string),
  description: omittable(string),
  inputSchema: jsonObject,
  outputSchema: omittable(jsonObject),
  annotations: omittable(toolAnnotations),
  icons: omittable(array(icon)),
  _meta: omittable(jsonObject),
})

/** Null where a description has to be there at all. */
const nullAsEmpty: Shape<string> = (place) => (place.value === null ? '' : string(place))
const mayBeMissing: Field<string> = withDefault(nullAsEmpty, '')

const timeout = nullable(int64From(0))
const bundled = nullable(boolean)
const texts = withDefault(map(string), {})
const list = withDefault(array(string), [])

/** The variants, most of which differ in whether their description may be missing. */
function variants(description: Field<string>): Shape<ExtensionConfig> {
  return tagged<ExtensionConfig>('type', {
    sse: object<SseExtension>({
      type: oneOf('sse'), name: string, description: mayBeMissing, uri: string, envs: texts, env_keys: list, timeout, bundled,
      available_tools: list,
    }),
    stdio: object<StdioExtension>({
      type: oneOf('stdio'), name: string, description: mayBeMissing, cmd: string, args: array(string), envs: texts, env_keys: list,
      timeout, bundled, available_tools: list,
    }),
    builtin: object<BuiltinExtension>({
      type: oneOf('builtin'), name: string, description: mayBeMissing, display_name: nullable(string), timeout, bundled,
      available_tools: list,
    }),
    platform: object<PlatformExtension>({ type: oneOf('platform'), name: string, description, bundled, available_tools: list }),
    streamable_http: object<StreamableHttpExtension>({
      type: oneOf('streamable_http'), name: string, description, uri: string, envs: texts, env_keys: list, headers: texts, timeout,
      bundled, available_tools: list,
    }),
    frontend: object<FrontendExtension>({
      type: oneOf('frontend'), name: string, description, tools: array(mcpTool), instructions: nullable(string), bundled,
      available_tools: list,
    }),
    inline_python: object<InlinePythonExtension>({
      type: oneOf('inline_python'), name: string, description, code: string, timeout, dependencies: nullable(array(string)),
      available_tools: list,
    }),
  })
}

/** An extension by itself: four types want a description, if only null. */
export const extensionConfig: Shape<ExtensionConfig> = variants(nullAsEmpty)

/** An extension in a recipe, which may leave the description out. */
export const recipeExtension: Shape<ExtensionConfig> = variants(mayBeMissing)

/** The key of an extension: its name in lower case, without white space. */
export function extensionKey(name: string): string {
  return wordsOf(name).join('').toLowerCase()
}

/** The key as tools carry it: other characters than letters, digits, `_` and `-` become `_` (GA 18.3). */
export function normalisedKey(name: string): string {
  return extensionKey(name).replace(/[^A-Za-z0-9_-]/gu, '_')
}
