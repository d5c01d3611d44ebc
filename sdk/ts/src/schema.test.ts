import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { createClient, type FromSchema, type JsonSchema } from './index.ts'

/** The type of a schema literal. */
function typeOf<const S extends JsonSchema>(schema: S): FromSchema<S> {
  return schema as FromSchema<S> // only its type matters
}

const done = { title: 't', output: 'o' }
const { tools } = createClient({ baseUrl: 'http://127.0.0.1' })

// The compiler checks these types: `npm run lint`.
describe('the input of a handler', () => {
  it('has the type of a schema literal', async () => {
    await tools.register(
      'a',
      {
        description: 'd',
        parameters: {
          type: 'object',
          properties: { zone: { type: 'string' }, days: { type: 'array', items: { type: 'integer' } }, unit: { enum: ['s', 'ms'] } },
          required: ['zone'],
        },
      },
      (input) => {
        expectTypeOf(input).toEqualTypeOf<{ zone: string; days?: number[]; unit?: 's' | 'ms' }>()
        return done
      },
    )
  })

  it('has the type of the validator', async () => {
    const validator = z.object({ n: z.string().transform(Number) })
    await tools.register('a', { description: 'd', parameters: z.toJSONSchema(validator, { io: 'input' }), validator }, (input) => {
      expectTypeOf(input).toEqualTypeOf<{ n: number }>()
      return done
    })
  })

  it('is as wide as the schema that the compiler knows', async () => {
    const parameters: JsonSchema = { type: 'object' }
    await tools.register('a', { description: 'd', parameters }, (input) => {
      expectTypeOf(input).toBeUnknown()
      return done
    })
    await tools.register('a', { description: 'd', parameters: { type: 'object' } }, (input) => {
      expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>()
      return done
    })
  })

  it('cannot have another type than the schema', () => {
    const parameters = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
    // @ts-expect-error -- n is a number
    void tools.register('a', { description: 'd', parameters }, ({ n }: { n: string }) => ({ title: 't', output: n }))
    // @ts-expect-error -- a result needs an output
    void tools.register('a', { description: 'd', parameters }, () => ({ title: 't' }))
  })
})

describe('the type of a schema', () => {
  it.each([
    ['scalars', () => {
      expectTypeOf(typeOf({ type: 'string' })).toBeString()
      expectTypeOf(typeOf({ type: ['integer', 'null'] })).toEqualTypeOf<number | null>()
      expectTypeOf(typeOf({ type: 'string', enum: ['a', 'b'] })).toEqualTypeOf<'a' | 'b'>()
      expectTypeOf(typeOf({ const: 7 })).toEqualTypeOf<7>()
    }],
    ['composition', () => {
      expectTypeOf(typeOf({ anyOf: [{ type: 'string' }, { type: 'boolean' }] })).toEqualTypeOf<string | boolean>()
      expectTypeOf(typeOf({ oneOf: [{ const: 'x' }, { type: 'null' }] })).toEqualTypeOf<'x' | null>()
      expectTypeOf(typeOf({
        allOf: [
          { properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'number' } }, required: ['b'] },
        ],
      })).toEqualTypeOf<{ a: string; b: number }>()
      expectTypeOf(typeOf({
        type: 'object', properties: { a: { type: 'string' } }, required: ['a'], anyOf: [{ minProperties: 1 }],
      })).toEqualTypeOf<{ a: string }>()
    }],
    ['containers', () => {
      expectTypeOf(typeOf({ type: 'array' })).toEqualTypeOf<unknown[]>()
      expectTypeOf(typeOf({ type: 'object', additionalProperties: { type: 'number' } })).toEqualTypeOf<Record<string, number>>()
    }],
    ['what types cannot express', () => {
      expectTypeOf(typeOf({ $ref: '#/$defs/x' })).toBeUnknown()
      expectTypeOf(typeOf({})).toBeUnknown()
    }],
  ])('%s', (_, check) => {
    check()
  })
})
