import { describe, expect, it } from 'vitest'
import { MalformedBodyError, ValidationError } from '../../httpapi/errors.ts'
import { maxTimeout } from './executions.ts'
import { readExecuteRequest, registerRequest, submitResultRequest, unregisterRequest } from './requests.ts'
import { validate, type Schema } from './schema.ts'

const schemas: Record<string, Schema<unknown>> = {
  register: registerRequest,
  unregister: unregisterRequest,
  result: submitResultRequest,
}

/** The issues of a body, as the JSON that the server sends. */
function issues(operation: string, body: string): string {
  const schema = schemas[operation]
  if (schema === undefined) throw new Error(operation)
  try {
    validate(schema, JSON.parse(body))
    return '[]'
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    expect(error.data).toEqual(JSON.parse(body))
    return JSON.stringify(error.issues)
  }
}

/** The issue for a wrong type, with its keys in the order of CT 3.5. */
function wrong(path: string, expected: string, received: string): string {
  const message = `Invalid input: expected ${expected}, received ${received}`
  return `{"expected":"${expected}","code":"invalid_type","path":${path},"message":"${message}"}`
}

/** The same for `result`, whose keys have a different order. */
function wrongResult(received: string): string {
  const message = `Invalid input: expected object, received ${received}`
  return `{"code":"invalid_type","expected":"object","path":["result"],"message":"${message}"}`
}

const noVariant =
  '{"code":"invalid_union","errors":[],"note":"No matching discriminator","discriminator":"status","path":["result","status"],"message":"Invalid input"}'

describe('validation issues (CT 3.5)', () => {
  it.each<[operation: string, body: string, issues: string[]]>([
    ['register', '{}', [wrong('["clientID"]', 'string', 'undefined'), wrong('["tools"]', 'array', 'undefined')]],
    ['register', '{"clientID":5,"tools":[]}', [wrong('["clientID"]', 'string', 'number')]],
    ['register', '{"clientID":null,"tools":[]}', [wrong('["clientID"]', 'string', 'null')]],
    ['register', '{"clientID":true,"tools":[]}', [wrong('["clientID"]', 'string', 'boolean')]],
    ['register', '{"clientID":[],"tools":[]}', [wrong('["clientID"]', 'string', 'array')]],
    ['register', '{"clientID":{},"tools":[]}', [wrong('["clientID"]', 'string', 'object')]],
    ['register', '{"clientID":1e400,"tools":[]}', [wrong('["clientID"]', 'string', 'number')]],
    ['register', '{"clientID":"v"}', [wrong('["tools"]', 'array', 'undefined')]],
    ['register', '{"clientID":"v","tools":null}', [wrong('["tools"]', 'array', 'null')]],
    ['register', '{"clientID":"v","tools":{}}', [wrong('["tools"]', 'array', 'object')]],
    ['register', '{"tools":"s","clientID":1}', [wrong('["clientID"]', 'string', 'number'), wrong('["tools"]', 'array', 'string')]],
    [
      'register',
      '{"clientID":"v","tools":["x",1,null,[],true]}',
      [
        wrong('["tools",0]', 'object', 'string'),
        wrong('["tools",1]', 'object', 'number'),
        wrong('["tools",2]', 'object', 'null'),
        wrong('["tools",3]', 'object', 'array'),
        wrong('["tools",4]', 'object', 'boolean'),
      ],
    ],
    [
      'register',
      '{"clientID":"v","tools":[{"parameters":[]},{"id":"a","description":"d","parameters":{}},{"description":"d","id":"a"}]}',
      [
        wrong('["tools",0,"id"]', 'string', 'undefined'),
        wrong('["tools",0,"description"]', 'string', 'undefined'),
        wrong('["tools",0,"parameters"]', 'record', 'array'),
        wrong('["tools",2,"parameters"]', 'record', 'undefined'),
      ],
    ],
    ['register', '{"clientID":"v","tools":[{"id":"a","description":"d","parameters":null}]}', [wrong('["tools",0,"parameters"]', 'record', 'null')]],
    ['register', '{"clientID":"v","tools":[{"id":"a","description":"d","parameters":"s"}]}', [wrong('["tools",0,"parameters"]', 'record', 'string')]],
    ['register', '[]', [wrong('[]', 'object', 'array')]],
    ['register', 'null', [wrong('[]', 'object', 'null')]],
    ['register', '"s"', [wrong('[]', 'object', 'string')]],
    ['register', '7', [wrong('[]', 'object', 'number')]],
    ['register', 'false', [wrong('[]', 'object', 'boolean')]],
    ['register', '{"ClientId":"ci","Tools":[]}', [wrong('["clientID"]', 'string', 'undefined'), wrong('["tools"]', 'array', 'undefined')]],
    ['register', '{"__proto__":{"clientID":"v","tools":[]}}', [wrong('["clientID"]', 'string', 'undefined'), wrong('["tools"]', 'array', 'undefined')]],
    ['unregister', '{}', [wrong('["clientID"]', 'string', 'undefined')]],
    ['unregister', '{"clientID":"c2","toolIDs":["a",1]}', [wrong('["toolIDs",1]', 'string', 'number')]],
    ['unregister', '{"clientID":"c2","toolIDs":null}', [wrong('["toolIDs"]', 'array', 'null')]],
    ['unregister', '{"clientID":"c2","toolIDs":"a"}', [wrong('["toolIDs"]', 'array', 'string')]],
    ['unregister', '[1]', [wrong('[]', 'object', 'array')]],
    ['result', '{}', [wrong('["requestID"]', 'string', 'undefined'), wrongResult('undefined')]],
    ['result', '{"requestID":"r","result":null}', [wrongResult('null')]],
    ['result', '{"requestID":"r","result":"s"}', [wrongResult('string')]],
    ['result', '{"requestID":"r","result":[]}', [wrongResult('array')]],
    ['result', '{"requestID":"r","result":1}', [wrongResult('number')]],
    ['result', '{"requestID":"r","result":true}', [wrongResult('boolean')]],
    ['result', '{"requestID":"r","status":"success","title":"t","output":"o"}', [wrongResult('undefined')]],
    ['result', '{"requestID":"r","result":{"status":"ok","title":"t","output":"o"}}', [noVariant]],
    ['result', '{"requestID":"r","result":{}}', [noVariant]],
    ['result', '{"requestID":1,"result":{"status":["success"]}}', [wrong('["requestID"]', 'string', 'number'), noVariant]],
    ['result', '{"requestID":"r","result":{"status":"constructor"}}', [noVariant]],
    [
      'result',
      '{"requestID":"r","result":{"metadata":[],"status":"success"}}',
      [
        wrong('["result","title"]', 'string', 'undefined'),
        wrong('["result","output"]', 'string', 'undefined'),
        wrong('["result","metadata"]', 'record', 'array'),
      ],
    ],
    ['result', '{"requestID":"r","result":{"status":"success","title":"t","output":"o","metadata":null}}', [wrong('["result","metadata"]', 'record', 'null')]],
    ['result', '{"requestID":"r","result":{"status":"error"}}', [wrong('["result","error"]', 'string', 'undefined')]],
    ['result', '{"requestID":"r","result":{"status":"error","error":null}}', [wrong('["result","error"]', 'string', 'null')]],
    ['result', 'null', [wrong('[]', 'object', 'null')]],
  ])('%s %s', (operation, body, expected) => {
    expect(issues(operation, body)).toBe(`[${expected.join(',')}]`)
  })

  it.each([
    ['register', '{"clientID":"","tools":[],"sessionID":5,"x":null}'],
    ['register', '{"clientID":"v","tools":[{"id":"","description":"","parameters":{"constructor":1},"x":[]}]}'],
    ['unregister', '{"clientID":"c"}'],
    ['unregister', '{"clientID":"c","toolIDs":[],"sessionID":null}'],
    ['result', '{"requestID":"","result":{"status":"success","title":"","output":""}}'],
    ['result', '{"requestID":"r","result":{"status":"success","title":"t","output":"o","metadata":{},"attachments":5,"x":1}}'],
    ['result', '{"requestID":"r","result":{"status":"error","error":"","title":5,"metadata":null}}'],
  ])('finds no issue in %s %s', (operation, body) => {
    expect(issues(operation, body)).toBe('[]')
  })
})

describe('the body of execute (CT 4.4, S9)', () => {
  const nothing = { toolID: '', requestID: '', sessionID: '', messageID: '', callID: '', input: {}, timeout: 30_000 }

  it.each<[body: string, fields: object]>([
    ['{}', {}],
    ['null', {}],
    ['{"toolID":"client_a_b","x":1,"ToolID":5}', { toolID: 'client_a_b' }],
    [
      '{"toolID":"t","requestID":"r","sessionID":"s","messageID":"m","callID":"c","input":{"b":1,"a":2},"timeout":5}',
      { toolID: 't', requestID: 'r', sessionID: 's', messageID: 'm', callID: 'c', input: { b: 1, a: 2 }, timeout: 5 },
    ],
    ['{"timeout":0}', {}],
    ['{"timeout":-0}', {}],
    ['{"timeout":-5}', {}],
    ['{"timeout":-1e300}', {}],
    ['{"timeout":1000.0}', { timeout: 1000 }],
    ['{"timeout":1e3}', { timeout: 1000 }],
    ['{"timeout":2147483647}', { timeout: maxTimeout }],
    ['{"timeout":2147483648}', { timeout: maxTimeout }],
    ['{"timeout":9007199254740993}', { timeout: maxTimeout }],
    ['{"timeout":1e300}', { timeout: maxTimeout }],
  ])('%s is valid', (body, fields) => {
    expect(readExecuteRequest(JSON.parse(body), 30_000)).toEqual({ ...nothing, ...fields })
  })

  it.each([
    '[]',
    '"s"',
    '5',
    'true',
    ...['toolID', 'requestID', 'sessionID', 'messageID', 'callID'].flatMap((key) =>
      ['null', '5', '[]', '{}', 'true'].map((value) => `{"${key}":${value}}`),
    ),
    ...['null', '5', '"s"', '[]', 'false'].map((value) => `{"input":${value}}`),
    ...['null', '"5"', '1.5', '-0.5', '[]', '{}', 'true'].map((value) => `{"timeout":${value}}`),
  ])('%s is malformed', (body) => {
    expect(() => readExecuteRequest(JSON.parse(body), 30_000)).toThrow(MalformedBodyError)
  })
})
