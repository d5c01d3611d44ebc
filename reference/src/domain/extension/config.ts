import {
  array, boolean, int64From, jsonObject, map, nullable, object, omittable, string, tagged, withDefault, type Field, type Shape,
} from '../../wire/json/shape.ts'
import type * as contract from '#contract'
import { icon } from '../message/tool-content.ts'
import { wordsOf } from '../../text/white-space.ts'

/** How an agent connects to an extension, with every field of its type (GA 4.9). */
export type ExtensionConfig = contract.ExtensionConfig
/** A tool as MCP describes it. */
export type McpTool = contract.Tool

const toolAnnotations: Shape<contract.ToolAnnotations> = object<contract.ToolAnnotations>({
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

/** For a description that is required, but may be null. */
const nullAsEmpty: Shape<string> = (place) => (place.value === null ? '' : string(place))
const mayBeMissing: Field<string> = withDefault(nullAsEmpty, '')

const timeout = nullable(int64From(0))
const bundled = nullable(boolean)
const texts = withDefault(map(string), {})
const list = withDefault(array(string), [])

/** The extension types. `description` reads the description of the four types that require one outside a recipe. */
function variants(description: Field<string>): Shape<ExtensionConfig> {
  return tagged<ExtensionConfig, 'type'>('type', {
    sse: { name: string, description: mayBeMissing, uri: string, envs: texts, env_keys: list, timeout, bundled, available_tools: list },
    stdio: {
      name: string, description: mayBeMissing, cmd: string, args: array(string), envs: texts, env_keys: list, timeout, bundled,
      available_tools: list,
    },
    builtin: { name: string, description: mayBeMissing, display_name: nullable(string), timeout, bundled, available_tools: list },
    platform: { name: string, description, bundled, available_tools: list },
    streamable_http: {
      name: string, description, uri: string, envs: texts, env_keys: list, headers: texts, timeout, bundled, available_tools: list,
    },
    frontend: { name: string, description, tools: array(mcpTool), instructions: nullable(string), bundled, available_tools: list },
    inline_python: {
      name: string, description, code: string, timeout, dependencies: nullable(array(string)), available_tools: list,
    },
  })
}

/** An extension outside a recipe. Four types require a description, which may be null. */
export const extensionConfig: Shape<ExtensionConfig> = variants(nullAsEmpty)

/** An extension in a recipe, which may leave the description out. */
export const recipeExtension: Shape<ExtensionConfig> = variants(mayBeMissing)

/** The key of an extension: its name in lower case, without white space. */
export function extensionKey(name: string): string {
  return wordsOf(name).join('').toLowerCase()
}

/** The key as it appears in tool names: characters other than letters, digits, `_` and `-` become `_` (GA 18.3). */
export function normalisedKey(name: string): string {
  return extensionKey(name).replace(/[^A-Za-z0-9_-]/gu, '_')
}
