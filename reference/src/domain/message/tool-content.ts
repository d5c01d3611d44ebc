import { array, int64From, jsonObject, object, omittable, string, tagged, type Place, type Shape } from '../../wire/json/shape.ts'
import type * as contract from '#contract'
import { isObject } from '../../wire/json/is-object.ts'
import { annotations } from './annotations.ts'

/** A piece of MCP content in a tool's response (GA 4.5). Optional members that are missing are omitted. */
export type ToolContent = contract.Content
export type ToolImage = contract.ImageContent

const textResource = object<contract.TextResourceContents>({
  uri: string,
  mimeType: omittable(string),
  text: string,
  _meta: omittable(jsonObject),
})

const blobResource = object<contract.BlobResourceContents>({
  uri: string,
  mimeType: omittable(string),
  blob: string,
  _meta: omittable(jsonObject),
})

/** A resource with a text and a blob is a text resource (G5). So is one with neither, which then fails for lack of a text. */
const resource: Shape<contract.ResourceContents> = (place) => (hasOnlyBlob(place) ? blobResource(place) : textResource(place))

function hasOnlyBlob({ value }: Place): boolean {
  return isObject(value) && Object.hasOwn(value, 'blob') && !Object.hasOwn(value, 'text')
}

export const icon: Shape<contract.Icon> = object<contract.Icon>({ src: string, mimeType: omittable(string), sizes: omittable(array(string)) })

export const toolContent: Shape<ToolContent> = tagged<ToolContent, 'type'>('type', {
  text: { text: string, _meta: omittable(jsonObject), annotations: omittable(annotations) },
  image: { data: string, mimeType: string, _meta: omittable(jsonObject), annotations: omittable(annotations) },
  resource: { resource, _meta: omittable(jsonObject), annotations: omittable(annotations) },
  audio: { data: string, mimeType: string, annotations: omittable(annotations) },
  resource_link: {
    uri: string,
    name: string,
    title: omittable(string),
    description: omittable(string),
    mimeType: omittable(string),
    size: omittable(int64From(0)),
    icons: omittable(array(icon)),
    annotations: omittable(annotations),
  },
})
