/** A JSON Schema. Written as a literal, it gives the handler's input its type. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What this library uses of a Standard Schema validator (zod, valibot, arktype and others). */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Outcome<Output> | Promise<Outcome<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

type Outcome<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Returns the validated input. Throws an error that names the first mistake. */
export async function validate<Output>(schema: StandardSchema<Output>, input: unknown): Promise<Output> {
  const outcome = await schema['~standard'].validate(input)
  if (!outcome.issues) return outcome.value
  const [issue] = outcome.issues
  const path = (issue?.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  throw new Error(['Invalid input', ...(path ? [path] : []), issue?.message ?? 'rejected'].join(': '))
}

/**
 * The values that a JSON Schema literal accepts. Keywords that types cannot express (`pattern`, `minimum`, `$ref`) accept
 * everything.
 */
export type FromSchema<S> = Flat<Const<S> & Enum<S> & Typed<S> & AnyOf<S> & OneOf<S> & AllOf<S>>

type Flat<T> = unknown extends T ? unknown : { [K in keyof T]: T[K] }
type Const<S> = S extends { readonly const: infer C } ? C : unknown
type Enum<S> = S extends { readonly enum: readonly (infer E)[] } ? E : unknown
type AnyOf<S> = S extends { readonly anyOf: readonly (infer B)[] } ? Each<B> : unknown
type OneOf<S> = S extends { readonly oneOf: readonly (infer B)[] } ? Each<B> : unknown
type AllOf<S> = S extends { readonly allOf: readonly (infer B)[] } ? Intersection<B extends unknown ? [FromSchema<B>] : never> : unknown
type Each<B> = B extends unknown ? FromSchema<B> : never
type Intersection<Boxed> = (Boxed extends [infer T] ? (value: T) => void : never) extends (value: infer All) => void ? All : never

type Typed<S> = S extends { readonly type: readonly (infer T)[] } ? OfType<T, S>
  : S extends { readonly type: infer T } ? OfType<T, S>
  : S extends { readonly properties: object } ? ObjectOf<S>
  : unknown

type OfType<T, S> = T extends 'string' ? string
  : T extends 'number' | 'integer' ? number
  : T extends 'boolean' ? boolean
  : T extends 'null' ? null
  : T extends 'array' ? ArrayOf<S>
  : T extends 'object' ? ObjectOf<S>
  : unknown

type ArrayOf<S> = S extends { readonly items: infer Item } ? FromSchema<Item>[] : unknown[]

type ObjectOf<S> = S extends { readonly properties: infer P extends object }
  ? { -readonly [K in Extract<keyof P, Required<S>>]: FromSchema<P[K]> }
    & { -readonly [K in Exclude<keyof P, Required<S>>]?: FromSchema<P[K]> }
  : Record<string, S extends { readonly additionalProperties: infer A extends object } ? FromSchema<A> : unknown>

type Required<S> = S extends { readonly required: readonly (infer K)[] } ? K : never
