import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { JsonDocument } from '../../wire/json/document.ts'
import { readShape } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { rootPaths } from '../../settings/paths.ts'
import { Settings } from '../../settings/settings.ts'
import { Budget } from './budget.ts'
import { decodeDeeplink } from './deeplink.ts'
import { SchemaError, checkSchema, schemaErrorsOf, finalOutputSchema } from './json-schema.ts'
import { RecipeLibrary } from './library.ts'
import { pathId } from './path-id.ts'
import { parseRecipe } from './recipe-file.ts'
import { recipe, type Recipe, type RecipeParameter } from './recipe.ts'
import { MissingParametersError, recipeLibrary, renderRecipe } from './render.ts'
import { TemplateRenderer } from './template-renderer.ts'
import { TemplateError } from './template-error.ts'
import { parseTemplate } from './template-parser.ts'
import { InvalidRecipeError, validateRecipe } from './validate.ts'
import { encodeDeeplink, inlineRecipeWorker } from '../../testing/recipes.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'

function read(text: string): Recipe {
  const document = new JsonDocument(text)
  return readShape(recipe, document.value, document)
}

const bare: Recipe = { version: '1.0.0', title: 't', description: 'd', prompt: 'p' }

function parameter(key: string, rest: Partial<RecipeParameter> = {}): RecipeParameter {
  return { key, input_type: 'string', requirement: 'required', description: '', ...rest }
}

describe('a recipe (GA 4.10)', () => {
  it('is written with its members, in order', () => {
    const text =
      '{"version":"2","title":"t","description":"d","instructions":"i","prompt":"p","extensions":[' +
      '{"type":"sse","name":"n","description":"","uri":"u","envs":{"B":"1","A":"2"},"env_keys":[],"timeout":9007199254740993,"bundled":null,"available_tools":[]},' +
      '{"type":"stdio","name":"n","description":"","cmd":"c","args":[],"envs":{},"env_keys":[],"timeout":null,"bundled":true,"available_tools":["t"]},' +
      '{"type":"builtin","name":"n","description":"","display_name":null,"timeout":null,"bundled":null,"available_tools":[]},' +
      '{"type":"platform","name":"n","description":"","bundled":null,"available_tools":[]},' +
      '{"type":"streamable_http","name":"n","description":"","uri":"u","envs":{},"env_keys":[],"headers":{},"timeout":0,"bundled":null,"available_tools":[]},' +
      '{"type":"frontend","name":"n","description":"","tools":[{"name":"t","inputSchema":{"n":1.0}}],"instructions":null,"bundled":null,"available_tools":[]},' +
      '{"type":"inline_python","name":"n","description":"","code":"c","timeout":null,"dependencies":null,"available_tools":[]}],' +
      '"settings":{"goose_provider":"p","goose_model":"m","temperature":0.5},"activities":["a"],"author":{"contact":"c","metadata":"m"},' +
      '"parameters":[{"key":"k","input_type":"select","requirement":"user_prompt","description":"d","default":"x","options":["x"]}],' +
      '"response":{"json_schema":{"type":"object"}},' +
      '"sub_recipes":[{"name":"s","path":"p","values":{"a":"1"},"sequential_when_repeated":true,"description":"d"}],' +
      '"retry":{"max_retries":1,"checks":[{"type":"Shell","command":"c"}],"on_failure":"f","timeout_seconds":1,"on_failure_timeout_seconds":2}}'
    expect(stringifyJson(read(text))).toBe(text)
  })

  it('gets its defaults', () => {
    const text =
      '{"title":"t","description":"d","prompt":null,"extensions":[{"type":"platform","name":"n"},{"type":"sse","name":"n","uri":"u","description":null}],' +
      '"sub_recipes":[{"name":"s","path":"p","values":{"n":3,"x":1.0,"o":{"a":[true]},"z":null}},{"name":"s","path":"p"}],' +
      '"retry":{"max_retries":1,"checks":[{"type":"shell","command":"c"}]},"response":{}}'
    expect(read(text)).toEqual({
      version: '1.0.0', title: 't', description: 'd',
      extensions: [
        { type: 'platform', name: 'n', description: '', bundled: null, available_tools: [] },
        { type: 'sse', name: 'n', description: '', uri: 'u', envs: {}, env_keys: [], timeout: null, bundled: null, available_tools: [] },
      ],
      response: {},
      sub_recipes: [
        { name: 's', path: 'p', values: { n: '3', x: '1.0', o: '{"a":[true]}', z: 'null' }, sequential_when_repeated: false },
        { name: 's', path: 'p', values: null, sequential_when_repeated: false },
      ],
      retry: { max_retries: 1, checks: [{ type: 'Shell', command: 'c' }] },
    })
  })

  it('may be YAML, and may be the value of a key', () => {
    expect(parseRecipe('recipe:\n  title: t\n  description: d\n  prompt: |\n    a\n    b\n')).toMatchObject({ title: 't', prompt: 'a\nb\n' })
    expect(parseRecipe('{"title": "t", "description": "d"}')).toMatchObject({ title: 't' })
    expect(() => parseRecipe('- a')).toThrow('expected an object')
    expect(() => parseRecipe('title: 5\ndescription: d')).toThrow('title: invalid type: number, expected a string')
  })
})

describe('a link to a recipe (GA 11.3)', () => {
  const link = 'eyJ2ZXJzaW9uIjoiMS4wLjAiLCJ0aXRsZSI6InQiLCJkZXNjcmlwdGlvbiI6IsO_Pz8iLCJwcm9tcHQiOiJwIn0'
  const linked = { ...bare, description: 'ÿ??' }

  it('is base64 of its JSON', () => {
    expect(encodeDeeplink(linked)).toBe(link)
    expect(decodeDeeplink(link)).toEqual(linked)
  })

  it('may be in the format of an older server', () => {
    const standard = Buffer.from(JSON.stringify(linked)).toString('base64')
    expect(standard).toMatch(/[/+]/)
    expect(decodeDeeplink(standard)).toEqual(linked)
    expect(decodeDeeplink(encodeURIComponent(standard))).toEqual(linked)
  })

  it.each(['', ' ', link + '=', link.slice(0, -3), `${link.slice(0, -1)}1`, '%', 'e30', 'bm9wZQ', `${link}\n`, 'żółw'])('is not %j', (text) => {
    expect(decodeDeeplink(text)).toBeUndefined()
  })
})

describe('validation (GA 11.2)', () => {
  const parameters = [parameter('a')]

  it.each<[recipe: Partial<Recipe>]>([
    [{}],
    [{ prompt: '{{a}}', parameters }],
    [{ instructions: '{% if a == "x" %}yes{% endif %}', parameters }],
    [{ prompt: '{{ recipe_dir }} {{two words}} {{ }} {# {{ nothing }} #}' }],
    [{ prompt: '{% raw %}{{ nothing }}{% endraw %}' }],
    [{ activities: ['{{ a | upper }}'], parameters }],
    [{ response: { json_schema: { type: 'object', properties: { x: { type: ['string', 'null'] } }, $id: 'https://x/y' } } }],
    [{ response: { json_schema: { $schema: 'http://json-schema.org/draft-07/schema#', definitions: {} } } }],
    [{ response: { json_schema: true } }],
    [{ response: {} }],
    [{ version: '{{ a }}', parameters: [parameter('a', { description: '{{ a }}' })] }],
    [{ parameters, retry: { max_retries: 1, checks: [{ type: 'Shell', command: '{{ a }}' }] } }],
    [{ parameters, sub_recipes: [{ name: 's', path: 'p', values: { '{{ a }}': '' }, sequential_when_repeated: false }] }],
    [{ retry: { max_retries: 1, checks: [], timeout_seconds: 1, on_failure_timeout_seconds: 1 } }],
    [{ prompt: '{{a}}', parameters: [parameter('a', { input_type: 'file', requirement: 'optional' })] }],
  ])('accepts %j', (members) => {
    for (let i = 0; i < 2; i++) expect(() => { validateRecipe({ ...bare, ...members }) }).not.toThrow()
  })

  it.each<[recipe: Partial<Recipe>, reason: string | RegExp]>([
    [{ prompt: ' \n', instructions: '' }, 'Recipe must specify at least one of `instructions` or `prompt`.'],
    [{ prompt: '{{b}} {{a}} {% for x in l %}{{x}}{{y}}{% endfor %}' }, 'Missing definitions for parameters in the recipe file: a, b, l, y.'],
    [{ parameters: [parameter('z'), parameter('y')] }, 'Unnecessary parameter definitions: y, z.'],
    [
      { prompt: '{{b}}', parameters },
      'Missing definitions for parameters in the recipe file: b.\nUnnecessary parameter definitions: a.',
    ],
    [{ prompt: '{{a}}', parameters: [parameter('a', { requirement: 'optional' })] }, 'Optional parameters missing default values in the recipe: a. Please provide defaults.'],
    [{ prompt: '{{a}}', parameters: [parameter('a', { input_type: 'file', default: 'x' })] }, 
      'File parameters cannot have default values to avoid importing sensitive user files: a'],
    [{ version: '{{ x }}', parameters: [parameter('a', { description: '{{ y }}', default: '{{ z }}' })], prompt: '{{a}}' }, 'Missing definitions for parameters in the recipe file: x, y, z.'],
    [{ retry: { max_retries: 1, checks: [{ type: 'Shell', command: '{{ c }}' }], on_failure: '{{ f }}' } }, 'Missing definitions for parameters in the recipe file: c, f.'],
    [{ response: { json_schema: { properties: { '{{ k }}': {} } } } }, 'Missing definitions for parameters in the recipe file: k.'],
    [{ parameters: [parameter('recipe_dir')], prompt: '{{ recipe_dir }}' }, 'Unnecessary parameter definitions: recipe_dir.'],
    [{ retry: { max_retries: 0, checks: [], timeout_seconds: 0 }, response: { json_schema: 5 } }, 'Invalid retry configuration: max_retries must be greater than 0'],
    [{ retry: { max_retries: 1, checks: [], timeout_seconds: 0 } }, 'Invalid retry configuration: timeout_seconds must be greater than 0 if specified'],
    [{ retry: { max_retries: 1, checks: [], on_failure_timeout_seconds: 0 } }, 'Invalid retry configuration: on_failure_timeout_seconds must be greater than 0 if specified'],
    [{ prompt: '{% if a %}' }, 'Invalid template: endif is missing'],
    [{ prompt: '{% import "x" %}' }, 'Invalid template: unexpected tag import "x"'],
    [{ response: { json_schema: { type: 'thing' } } }, /^JSON schema validation failed: ./],
    [{ response: { json_schema: 5 } }, /^JSON schema validation failed: ./],
  ])('rejects %j', (members, reason) => {
    const validate = (): void => { validateRecipe({ ...bare, ...members }) }
    expect(validate).toThrow(InvalidRecipeError)
    expect(validate).toThrow(typeof reason === 'string' ? new InvalidRecipeError(reason) : reason)
  })
})

function valueOf(text: string): unknown {
  return new JsonDocument(text).value
}

describe('the schema of a final output (GA 7.14)', () => {
  it('reports what is wrong, by path (M34)', () => {
    const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer' }, b: { type: 'array', items: { type: 'string' } } } }
    expect(schemaErrorsOf(schema, { a: 1, b: ['x'] })).toEqual([])
    expect(schemaErrorsOf(schema, { b: [1, 'x', 2] })).toEqual(['- : ' + "must have required property 'a'", '- /b/0: must be string', '- /b/2: must be string'])
    const many = schemaErrorsOf(schema, { a: 1, b: new Array(5000).fill(0) })
    expect([many.length, many.at(-1)]).toEqual([21, '- 4980 more'])
  })

  it('is an object that is not empty (G16)', () => {
    for (const schema of [undefined, null, {}, true, [], 'x', { type: 'thing' }, { type: 5 }]) expect(() => finalOutputSchema(schema)).toThrow(SchemaError)
    expect(finalOutputSchema(valueOf('{"type":"object","minProperties":1.0}')).shown).toBe('{\n  "type": "object",\n  "minProperties": 1.0\n}')
  })

  it('has a limited size, and is shown compactly if its indented form is too large (G35)', () => {
    const levels = (count: number): unknown => valueOf('{"default":'.repeat(count) + '1' + '}'.repeat(count))
    const wide = { ...(levels(190) as object), enum: new Array(10_000).fill(1) }
    expect(finalOutputSchema(wide).shown).toBe(stringifyJson(wide))
    expect(() => { checkSchema(levels(200)) }).not.toThrow()
    for (const schema of [levels(201), levels(9000), { enum: ['x'.repeat(256 * 1024)] }]) expect(() => { checkSchema(schema) }).toThrow(SchemaError)
    const long = schemaErrorsOf({ additionalProperties: { type: 'string' } }, { ['x'.repeat(5000)]: 1, y: 1 })
    expect(long).toEqual([`- /${'x'.repeat(999)}...: must be string`, '- /y: must be string'])
  })

  it('has no number that is too large to validate, and neither has the value (G28)', () => {
    for (const number of ['1e1001', '1e-1001', '1e1000000', '1' + '0'.repeat(1000)]) {
      expect(() => { checkSchema(valueOf(`{"maximum":${number}}`)) }).toThrow(SchemaError)
      expect(schemaErrorsOf({ type: 'object' }, valueOf(`{"a/~":[1,${number}]}`))).toEqual(['- /a~1~0/1: the number is too large'])
    }
    expect(schemaErrorsOf(valueOf('{"maximum":1e1000}'), valueOf('9'.repeat(1000)))).toEqual([])
    expect(schemaErrorsOf({ type: 'integer', minimum: 1 }, valueOf('1e1000'))).toEqual([])
  })

  it('has limited repeats in its patterns, and an $id that is a reference (G37)', () => {
    for (const pattern of ['a{1000}', '(a{10}){100}', '[{1001}(]', '(a{10})(b{101})', '\\u{10001}\\{', '(a{30}|b{20}){33}', 'a{0,}']) {
      expect(() => { checkSchema({ pattern }) }).not.toThrow()
    }
    for (const pattern of ['a{1001}', 'a{2,1001}', '(a{10}){101}', '(?:a{2,}){501}', '((a{10})+b){101}', '(a{30}|b){34}', '(a{1,1000}){1,1000}']) {
      for (const schema of [{ pattern }, { items: [{ not: { pattern } }] , $schema: 'http://json-schema.org/draft-07/schema#' }, { patternProperties: { [pattern]: {} } }]) {
        expect(() => { checkSchema(schema) }).toThrow('repeats')
      }
      expect(() => { checkSchema({ enum: [{ pattern }], properties: { pattern: {} } }) }).not.toThrow()
    }
    for (const $id of ['http://x/\0', 'x\x7f', 'x\n', 'http://x/%zz', 'x%']) expect(() => { checkSchema({ properties: { a: { $id } } }) }).toThrow(SchemaError)
    expect(() => { checkSchema({ $id: 'http://x/%41', const: { $id: '%' } }) }).not.toThrow()
  })

  it('may refer to itself (G37)', () => {
    const circle = { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }
    for (const schema of [{ $ref: '#' }, { $ref: '#/$defs/a', $defs: circle }, { properties: { x: { $ref: '#/$defs/a' } }, $defs: circle }]) {
      expect(() => { checkSchema(schema) }).not.toThrow()
    }
    expect(schemaErrorsOf({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { type: 'string' } } }, 5)).toEqual(['- : must be string'])
  })

  it('validates no further than necessary', () => {
    const again = Array.from({ length: 40 }, (_, i) => [`d${i + 1}`, { anyOf: [{ $ref: `#/$defs/d${i}` }, { $ref: `#/$defs/d${i}` }] }])
    const schema = { anyOf: [{ const: 5 }, { $ref: '#/$defs/d40' }], $defs: { d0: { type: 'null' }, ...Object.fromEntries(again) } as unknown }
    expect(schemaErrorsOf(schema, 5)).toEqual([])
    expect(schemaErrorsOf({ anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }], unevaluatedProperties: false }, { a: 1, b: 1 })).toEqual([])
  })

  it('does not validate a value that is too deep (G28)', () => {
    const levels = (count: number): unknown => valueOf('{"a":'.repeat(count) + '1' + '}'.repeat(count))
    expect(schemaErrorsOf({ type: 'object' }, levels(200))).toEqual([])
    for (const count of [201, 9000]) expect(schemaErrorsOf({ type: 'object' }, levels(count))).toEqual(['- : the value has more than 200 levels'])
    expect(schemaErrorsOf({ $async: true, type: 'string' }, 5)).toHaveLength(1)
  })
})

describe('a template (GA 11.2, G20)', () => {
  const values = new Map<string, unknown>([['name', 'Ann'], ['empty', ''], ['list', ['a', 'b']], ['n', '5']])
  const files: Record<string, string> = {
    'greet.txt': 'Hi {{ name }}!{% set name = "x" %}',
    'base.txt': '<{% block a %}A{% endblock %}|{% block b %}B {{ x }}{% endblock %}>',
    'middle.txt': '{% extends "base.txt" %}{% set x = "m" %}{% block a %}M{% endblock %}',
    'self.txt': '{% include "self.txt" %}',
    'large.txt': 'x'.repeat(2 * 1024 * 1024),
  }

  function render(text: string): string {
    const rendering = new TemplateRenderer(parseTemplate, new Budget(), (name) => {
      const file = files[name]
      if (file === undefined) throw new TemplateError(`there is no ${name}`)
      return file
    })
    return rendering.text(text, values)
  }

  it.each([
    ['Hi {{ name }}!', 'Hi Ann!'],
    ['{{name}}{{ "x" }}{{ 1 }}{{ true }}', 'Annx1true'],
    ['{{two words}} {{ }} {{ 1 + }} {{ name.x }} {{ 1.5 }} {{ name | nope }} {{ name | upper(1) }} {{ name', '{{two words}} {{ }} {{ 1 + }} {{ name.x }} {{ 1.5 }} {{ name | nope }} {{ name | upper(1) }} {{ name'],
    ['{% if empty %}a{% elif name == "Ann" %}b{% else %}c{% endif %}', 'b'],
    ['{% if not name %}a{% else %}{% if n == "5" and (empty or name) %}b{% endif %}{% endif %}', 'b'],
    ['{% for x in list %}{{ x }}-{{ name }};{% endfor %}', 'a-Ann;b-Ann;'],
    ['{% if "a" in list and "z" not in list and "nn" in name %}in{% endif %}', 'in'],
    ['{% if nothing is defined %}a{% elif name is undefined or name is not defined %}b{% else %}c{% endif %}', 'c'],
    ['{{ nothing | default("x") | upper }} {{ list | join(", ") }} {{ list | length }} {{ name ~ n ~ 1 }}', 'X a, b 2 Ann51'],
    ['{{ ["a", 1, true] }} {{ [] }} {{ "a b" | split(" ") }}', '["a", 1, true] [] ["a", "b"]'],
    ['{{ "a" if empty else "b" if n == 5 else "c" }} {{ not 0 }} {{ not not "" }} {{ "" or "x" }}', 'c true false x'],
    ['{{ "żółw I" | title }} {{ "aB cD" | capitalize }} {{ "😀" | length }} {{ "\\n\\x\\"" }}', 'Żółw I Ab cd 1 \nx"'],
    ['{{ "straße" | upper }} {{ "ΑΣ İx" | lower }} {{ "ΑΣ" | capitalize }} {{ "ßa ΑΣ" | title }}', 'STRASSE ας i̇x Ας SSa Ας'],
    ['{{ "\uFFFF" < "😀" }} {{ 2 < 10 }} {{ "2" < "10" }} {{ 1 == "1" }} {{ [1] == [1] }}', 'true true false false true'],
    ['{{ 1 == 1 == true }} {{ 9007199254740993 }} {{ 9007199254740993 < 9007199254740994 }} {{ [9007199254740993] }} {{ 9223372036854775808 }}', 'true 9007199254740993 true [9007199254740993] {{ 9223372036854775808 }}'],
    ['{{ name | replace("n", "m") | lower | trim }}', 'amm'],
    ['{# {{ nothing }} #}{% raw %}{{ name }}{% endraw %}', '{{ name }}'],
    ['a {#-#} b {#--#} c', 'a bc'],
    [' a {%- if name -%} x {{- n -}} y {%- endif %} z {#- c -#} w', ' ax5y zw'],
    ['{% set x = "1" %}{% for y in list %}{% set x = y %}{{ x }}{% endfor %}{{ x }}', 'ab1'],
    ['{% if true %}{% set x = 1 %}{% endif %}{{ x }}', '1'],
    ['{% include "greet.txt" %} {{ name }}', 'Hi Ann! Ann'],
    ['{% extends "base.txt" %}{% set x = n %}text{% block a %}{{ name }}{% endblock %}', '<Ann|B 5>'],
    ['{% extends "middle.txt" %}{% block b %}mine{% endblock %}', '<M|mine>'],
    ['{% block a %}{{ name }}{% endblock %}', 'Ann'],
  ])('%j is %j', (text, written) => {
    expect(render(text)).toBe(written)
  })

  it('uses the variables that it does not define', () => {
    const { variables } = parseTemplate('{% set a = b %}{{ a }}{% for c in d %}{% set e = c %}{{ e }}{% endfor %}{{ e }}{{ c }}', new Budget())
    expect([...variables].sort()).toEqual(['b', 'c', 'd', 'e'])
  })

  it.each([
    '{{ nothing }}', '{{ [[]] }}', '{% for x in name %}{% endfor %}', '{{ list < 1 }}', '{{ "1" < 1 }}', '{{ list | upper }}', '{{ 1 in 2 }}', '{{ "a" not in true }}',
    '{% include "none" %}',
    '{% include "self.txt" %}', '{% extends "self.txt" %}',
    '{% set l = "a".x %}',
  ])('cannot be %j', (text) => {
    expect(() => render(text)).toThrow(TemplateError)
  })

  it.each([
    ['texts in loops', `{% set x = "${'x'.repeat(1000)}" %}{% for a in "${'a'.repeat(10_001)}" | split("") %}{% if x == "" %}{% endif %}{% endfor %}`],
    ['lists', `{% set x = "${'a'.repeat(1_000_000)}" | split("") %}${'{% if "b" in x %}{% endif %}'.repeat(4)}`],
    ['what a filter makes', `{{ "${'a'.repeat(4000)}" | replace("a", "${'b'.repeat(4000)}") }}`],
    ['what a filter makes between characters', `{{ "${'a'.repeat(4000)}" | replace("", "${'b'.repeat(4000)}") }}`],
    ['what is joined', `{{ "${'a'.repeat(4000)}" | split("") | join("${'b'.repeat(4000)}") }}`],
  ])('has limited work: %s (G22)', (_, text) => {
    expect(() => render(text)).toThrow('look at too much')
  })

  it('applies the defaults of defaults once', () => {
    expect(render(`{{ nothing${' | default(nothing)'.repeat(50)} | default("x") }}`)).toBe('x')
    expect(render(`{{ n${' | default(1)'.repeat(100)} }}`)).toBe('5')
  })

  it('cuts texts between characters', () => {
    expect(render('{{ "a😀" | split("") }} {{ "a😀" | replace("", "-") }} {{ "" | split("") }} {{ "" | replace("", "-") }}')).toBe('["a", "😀"] -a-😀- [] -')
  })

  it('has a limit of work', () => {
    const loops = '{% for a in l %}'.repeat(7)
    const text = `{% set l = [${'1,'.repeat(9)}1] %}${loops}x${'{% endfor %}'.repeat(7)}`
    expect(() => render(text)).toThrow('too many pieces')
    const doubled = `{% set x = "0123456789" %}${'{% set x = x ~ x %}'.repeat(21)}{{ x }}`
    expect(() => render(doubled)).toThrow('look at too much')
    expect(() => render('{% include "large.txt" %}'.repeat(6))).toThrow('too large')
    expect(() => render('{% if 1 %}'.repeat(201) + '{% endif %}'.repeat(201))).toThrow('nested too deep')
  })

  it.each([
    `{{ ${'('.repeat(201)}1${')'.repeat(201)} }}`, `{{ ${'['.repeat(201)}${']'.repeat(201)} }}`, `{{ ${'1 if 0 else '.repeat(201)}1 }}`,
    `{{ ${'"a" | default('.repeat(201)}1${')'.repeat(201)} }}`,
  ])('nests at most 200 levels: %.30s', (text) => {
    expect(() => render(text)).toThrow('nested too deep')
    expect(() => { validateRecipe({ ...bare, prompt: text }) }).toThrow('nested too deep')
  })

  it.each([
    [`{{ ${'1~'.repeat(20_000)}1 }}`, '1'.repeat(20_001)],
    [`{{ name${' | upper'.repeat(20_000)} }}`, 'ANN'],
    [`{{ nothing${' | default(nothing)'.repeat(10_000)} | default("x") }}`, 'x'],
    [`{{ ${'empty or '.repeat(20_000)}"x" }}{{ ${'1 and '.repeat(20_000)}name }}`, 'xAnn'],
    [`{{ 1${' == 1'.repeat(20_000)} }}`, 'false'],
    [`{{ nothing${' is defined'.repeat(20_000)} }}{{ nothing == 1 is defined }}`, 'truefalse'],
    [`{{ ${'not '.repeat(20_001)}1 }}`, 'false'],
  ])('evaluates chains of any length: %.30s', (text, written) => {
    expect(render(text)).toBe(written)
  })

  it('searches for braces once, however many are not closed', () => {
    const open = ['{{', '{#', '{%', '{{%'].map((braces) => braces.repeat(200_000)).join('')
    expect(render(`${open} {{name}`)).toBe(`${open} {{name}`)
  })

  it.each([
    ['parts of an expression', `{{ ${'1~'.repeat(60_000)}1 }}`, 'too many pieces'],
    ['turns without a body', `{% set l = "${'a'.repeat(400)}" | split("") %}{% for a in l %}{% for b in l %}{% endfor %}{% endfor %}`, 'too many pieces'],
    ['steps', `{% for a in "${'a'.repeat(20_000)}" | split("") %}{% if 1${' == 1'.repeat(1000)} %}{% endif %}{% endfor %}`, 'look at too much'],
    ['conditions', `{% for a in "${'a'.repeat(20_000)}" | split("") %}{% if ${'0 or '.repeat(1000)} 0 %}{% endif %}{% endfor %}`, 'look at too much'],
    ['items', `{% set x = "${'a'.repeat(700_000)}" | split("") %}`, 'look at too much'],
  ])('counts %s (G22)', (_, text, message) => {
    expect(() => render(text)).toThrow(message)
  })

  it.each(['{% if x %}', '{% for x in y %}', '{% endif %}', '{% else %}', '{% do x %}', '{% if %}x{% endif %}', '{% raw %}', '{% %}', '{% set x %}',
    '{% block %}{% endblock %}', '{% block a %}', '{% block a %}{% endblock %}{% block a %}{% endblock %}', '{% if 1 %}{% else %}{% elif 1 %}{% endif %}',
    '{% if 1 %}{% endif x %}', '{% include %}'])(
    'is not %j',
    (text) => {
      expect(() => parseTemplate(text, new Budget())).toThrow(TemplateError)
    },
  )
})

describe('rendering (GA 11.2)', () => {
  it('fills values in, defaults and files', () => {
    const root = temporaryRoot()
    const paths = rootPaths(root)
    mkdirSync(join(paths.config, 'recipes'), { recursive: true })
    writeFileSync(join(paths.config, 'recipes/a.txt'), 'content "{{x}}"\n')
    const parameters = [
      parameter('a'), parameter('b', { requirement: 'optional', default: 'B' }), parameter('f', { input_type: 'file' }),
    ]
    const rendered = renderRecipe(
      { ...bare, prompt: '{{a}} {{b}} {{f}}{{recipe_dir}}', activities: ['{{a}}'], parameters, sub_recipes: [
        { name: 's', path: '{{a}}.txt', values: { k: '{{b}}' }, sequential_when_repeated: false },
      ] },
      { a: 'a', f: join(paths.config, 'recipes/a.txt'), more: 'x' },
      recipeLibrary(paths),
    )
    expect(rendered).toMatchObject({
      prompt: `a B content "{{x}}"\n${paths.config}/recipes`,
      activities: ['a'],
      sub_recipes: [{ path: join(paths.config, 'recipes/a.txt'), values: { k: 'B' } }],
    })
  })

  it('renders every text, including keys, and does not treat values as templates (G19)', () => {
    const read = '{{a}}'
    const rendered = renderRecipe(
      {
        ...bare, version: read, title: read, prompt: read, parameters: [parameter('a', { description: read, options: [read] }), parameter('b', { default: read })],
        response: { json_schema: valueOf('{"{{a}}":1,"10":{"{{b}}":["{{a}}",1.0]},"2":"{{a}}","10":{"z":"{{a}}"}}') },
        retry: { max_retries: 1, checks: [{ type: 'Shell', command: read }], on_failure: read },
        sub_recipes: [{ name: 's {{a}}', path: '/', values: { '{{a}}': read }, sequential_when_repeated: false }],
      },
      { a: '{{b}}"' },
      '/nonexistent',
    )
    const value = '{{b}}"'
    expect(rendered).toMatchObject({
      version: value, title: value, prompt: value, parameters: [{ key: 'a', description: value, options: [value] }, { key: 'b', default: value }],
      retry: { checks: [{ command: value }], on_failure: value }, sub_recipes: [{ name: `s ${value}`, values: { [value]: value } }],
    })
    expect(stringifyJson(rendered.response)).toBe('{"json_schema":{"{{b}}\\"":1,"10":{"z":"{{b}}\\""},"2":"{{b}}\\""}}')
  })

  it('renders a value 9,000 levels deep, and finds variables there', () => {
    const deep = { ...bare, parameters: [parameter('a')], response: { json_schema: valueOf('[{"k":'.repeat(4000) + '"{{a}}"' + '}]'.repeat(4000)) } }
    expect(stringifyJson(renderRecipe(deep, { a: 'value' }, '/nonexistent'))).toContain('"k":"value"}')
    expect(() => { validateRecipe(deep) }).toThrow('a schema is an object') // the error is about the schema, so the variable was found
  })

  it('has one limit for all of its texts (G22)', () => {
    const root = temporaryRoot()
    const paths = rootPaths(root)
    mkdirSync(join(paths.config, 'recipes'), { recursive: true })
    writeFileSync(join(paths.config, 'recipes/large.txt'), 'x'.repeat(2 * 1024 * 1024))
    const rendered = (count: number): Recipe => renderRecipe({ ...bare, activities: new Array<string>(count).fill('{% include "large.txt" %}') }, {}, recipeLibrary(paths))
    expect(rendered(4).activities).toHaveLength(4)
    expect(() => rendered(6)).toThrow('too large')
    const words = new Array<string>(3).fill(`{{ ${'1~'.repeat(20_000)}1 }}`)
    expect(() => { validateRecipe({ ...bare, activities: words }) }).toThrow('too many pieces')
  })

  it('includes no file outside of the folder, not even through links (G22)', () => {
    const root = temporaryRoot()
    const paths = rootPaths(root)
    const library = join(paths.config, 'recipes')
    mkdirSync(join(library, 'in'), { recursive: true })
    writeFileSync(join(root, 'secret.txt'), 'secret')
    writeFileSync(join(library, 'in/a.txt'), 'A')
    symlinkSync(root, join(library, 'out'))
    symlinkSync(join(root, 'secret.txt'), join(library, 'link.txt'))
    symlinkSync(join(library, 'in'), join(library, 'alias'))
    const include = (name: string): string | undefined => renderRecipe({ ...bare, prompt: `{% include "${name}" %}` }, {}, recipeLibrary(paths)).prompt
    expect(include('alias/a.txt')).toBe('A')
    for (const name of ['out/secret.txt', 'link.txt', '../../secret.txt', join(root, 'secret.txt'), 'in/../out/secret.txt', '.', 'in']) {
      expect(() => include(name)).toThrow('template not readable')
    }
  })

  it('distinguishes missing values from other errors', () => {
    const library = '/nonexistent'
    const one = (key: Partial<RecipeParameter>): Recipe => ({ ...bare, prompt: '{{a}}', parameters: [parameter('a', key)] })
    for (const requirement of ['required', 'user_prompt'] as const) {
      expect(() => renderRecipe(one({ requirement }), { constructor: 'x' }, library)).toThrow(MissingParametersError)
    }
    expect(() => renderRecipe(one({ input_type: 'file' }), { a: 'none' }, library)).toThrow(TemplateError)
    expect(() => renderRecipe({ ...bare, prompt: '{{a}}' }, { a: 'x' }, library)).toThrow(TemplateError)
  })
})

describe('the library (GA 11.1)', () => {
  it('has the id of a path', () => {
    expect(pathId('/a')).toBe('4d5e0570f59b4e45')
    expect(pathId('/tmp/r/config/recipes/demo.yaml')).toBe('a4c66c3e6ce65a54')
  })

  it('finds recipes in its directories, each once', async () => {
    const root = realpathSync(temporaryRoot())
    const write = (path: string, text: string): void => {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const text = 'title: t\ndescription: d\nprompt: p\n'
    for (const path of ['cwd/here.yaml', 'cwd/.goose/recipes/dot.json', 'more/m.yaml', 'root/config/recipes/lib.yaml']) write(path, text)
    for (const path of ['cwd/no.yml', 'cwd/no.txt', 'cwd/deep/no.yaml']) write(path, text)
    write('cwd/other.yaml', 'name: x\n')
    symlinkSync(join(root, 'more'), join(root, 'link'))
    const env = { GOOSE_RECIPE_PATH: `${root}/more::${root}/link:${root}/none` }
    const library = new RecipeLibrary(new Settings(rootPaths(join(root, 'root')), env), join(root, 'cwd'), inlineRecipeWorker)
    expect(await library.list()).toEqual(
      ['cwd/here.yaml', 'cwd/.goose/recipes/dot.json', 'more/m.yaml', 'root/config/recipes/lib.yaml'].map((path) => join(root, path)),
    )
    write('more/new.yaml', text)
    const path = join(root, 'more/new.yaml')
    expect(await library.pathOf(pathId(path))).toBe(path)
    expect(await library.pathOf('nope')).toBeUndefined()
  })
})
