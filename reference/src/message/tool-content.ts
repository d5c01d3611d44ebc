import { array, int64From, jsonObject, object, omittable, oneOf, string, tagged } from '../json/shape.ts'
import type { Int64, JsonObject, Place, Shape } from '../json/shape.ts'
import { isObject } from '../json/is-object.ts'
import { annotations } from './annotations.ts'
import type { Annotated, Annotations } from './annotations.ts'

/** What a tool has answered: a piece of content of MCP (GA 4.5). Members that may be absent are left out when they are. */
export type ToolContent = ToolText | ToolImage | ToolResource | ToolAudio | ToolResourceLink

export type ToolText = { type: 'text'; text: string } & Annotated
export type ToolImage = { type: 'image'; data: string; mimeType: string } & Annotated
export type ToolResource = { type: 'resource'; resource: Resource } & Annotated

export interface ToolAudio {
  type: 'audio'
  data: string
  mimeType: string
  annotations?: Annotations
}

export interface ToolResourceLink {
  type: 'resource_link'
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  size?: Int64
  icons?: Icon[]
  annotations?: Annotations
}

/** A resource with its content, which is a text or the base64 of bytes. */
export type Resource = TextResource | BlobResource

export interface TextResource {
  uri: string
  mimeType?: string
  text: string
  _meta?: JsonObject
}

export interface BlobResource {
  uri: string
  mimeType?: string
  blob: string
  _meta?: JsonObject
}

export interface Icon {
  src: string
  mimeType?: string
  sizes?: string[]
}

const textResource = object<TextResource>({
  uri: string,
  mimeType: omittable(string),
  text: string,
  _meta: omittable(jsonObject),
})

const blobResource = object<BlobResource>({
  uri: string,
  mimeType: omittable(string),
  blob: string,
  _meta: omittable(jsonObject),
})

/** A resource with both is a text (G5), and so is one with neither, which lacks it. */
const resource: Shape<Resource> = (place) => (hasOnlyBlob(place) ? blobResource(place) : textResource(place))

function hasOnlyBlob({ value }: Place): boolean {
  return isObject(value) && Object.hasOwn(value, 'blob') && !Object.hasOwn(value, 'text')
}

export const icon: Shape<Icon> = object<Icon>({ src: string, mimeType: omittable(string), sizes: omittable(array(string)) })

export const toolContent: Shape<ToolContent> = tagged<ToolContent>('type', {
  text: object<ToolText>({
    type: oneOf('text'),
    text: string,
    _meta: omittable(jsonObject),
    annotations: omittable(annotations),
  }),
  image: object<ToolImage>({
    type: oneOf('image'),
    data: string,
    mimeType: string,
    _meta: omittable(jsonObject),
    annotations: omittable(annotations),
  }),
  resource: object<ToolResource>({
    type: oneOf('resource'),
    resource,
    _meta: omittable(jsonObject),
    annotations: omittable(annotations),
  }),
  audio: object<ToolAudio>({
    type: oneOf('audio'),
    data: string,
    mimeType: string,
    annotations: omittable(annotations),
  }),
  resource_link: object<ToolResourceLink>({
    type: oneOf('resource_link'),
    uri: string,
    name: string,
    title: omittable(string),
    description: omittable(string),
    mimeType: omittable(string),
    size: omittable(int64From(0)),
    icons: omittable(array(icon)),
    annotations: omittable(annotations),
  }),
})
