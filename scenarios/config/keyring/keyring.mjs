// A keyring for tests: a message bus with a Secret Service, over standard input and output. A server starts it when
// DBUS_SESSION_BUS_ADDRESS is unixexec:path=node,argv1=<this file>. Each connection is a process of its own.
//
// Its state is keyring.json in the directory above, which all processes share, and a scenario may change at any time:
//   items    [{attributes, secret, type}], where secret is a text
//   locked   whether the only collection is locked, with all its items
//   prompt   what a prompt does: accept, dismiss, wait (until it is dismissed), or none (no prompt is needed)
//   default  false if the alias default leads nowhere
//   session  the name of the sessions that it opens and knows: another name is a restart
//   fail     methods that answer an error;  silent  methods without an answer;  exit  methods that end the connection
// Each call adds a line to keyring.log there.
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const directory = dirname(dirname(fileURLToPath(import.meta.url)))
const root = '/org/freedesktop/secrets'
const collection = `${root}/collection/login`
const prompt = `${root}/prompt/p1`
const secrets = 'org.freedesktop.Secret.'

const read = () => ({ items: [], locked: false, prompt: 'accept', default: true, session: 's1', fail: [], silent: [], exit: [], ...JSON.parse(readFileSync(join(directory, 'keyring.json'), 'utf8')) })

const session = () => `${root}/session/${read().session}`

function change(edit) {
  const state = read()
  edit(state)
  const file = join(directory, 'keyring.json')
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(state))
  renameSync(`${file}.${process.pid}`, file)
}

const log = (...words) => appendFileSync(join(directory, 'keyring.log'), words.filter((w) => w !== '').join(' ') + '\n')

// Types of the D-Bus specification --------------------------------------------------------------------------------

const alignments = { y: 1, b: 4, n: 2, q: 2, i: 4, u: 4, x: 8, t: 8, d: 8, s: 4, o: 4, g: 1, a: 4, '(': 8, '{': 8, v: 1 }

/** The length of the first complete type of a signature. */
function firstType(signature) {
  if (signature[0] === 'a') return 1 + firstType(signature.slice(1))
  if (signature[0] !== '(' && signature[0] !== '{') return 1
  for (let depth = 0, i = 0; ; i++) {
    if ('({'.includes(signature[i])) depth++
    if (')}'.includes(signature[i]) && --depth === 0) return i + 1
  }
}

function types(signature) {
  const out = []
  for (let rest = signature; rest !== ''; rest = rest.slice(out.at(-1).length)) out.push(rest.slice(0, firstType(rest)))
  return out
}

class Reader {
  constructor(bytes, little, at = 0) {
    Object.assign(this, { bytes, little, at, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) })
  }

  align(to) {
    this.at = Math.ceil(this.at / to) * to
  }

  text(length) {
    const text = this.bytes.toString('utf8', this.at, this.at + length)
    this.at += length + 1
    return text
  }

  uint32() {
    this.align(4)
    this.at += 4
    return this.view.getUint32(this.at - 4, this.little)
  }

  value(type) {
    this.align(alignments[type[0]])
    switch (type[0]) {
      case 'y':
        return this.bytes[this.at++]
      case 'b':
        return this.uint32() === 1
      case 'u':
      case 'i':
        return this.uint32()
      case 's':
      case 'o':
        return this.text(this.uint32())
      case 'g':
        return this.text(this.bytes[this.at++])
      case 'v':
        return this.value(this.value('g'))
      case 'a':
        return this.array(type.slice(1))
      case '(':
        return types(type.slice(1, -1)).map((t) => this.value(t))
      default:
        throw new Error(`cannot read the type ${type}`)
    }
  }

  array(item) {
    const length = this.uint32()
    this.align(alignments[item[0]])
    const end = this.at + length
    if (item === 'y') {
      this.at = end
      return this.bytes.subarray(end - length, end)
    }
    const out = []
    while (this.at < end) out.push(item[0] === '{' ? this.value(`(${item.slice(1, -1)})`) : this.value(item))
    return item[0] === '{' ? Object.fromEntries(out) : out
  }
}

/** Writes little-endian values. A variant is written as {type, value}. */
class Writer {
  bytes = []

  align(to) {
    while (this.bytes.length % to !== 0) this.bytes.push(0)
  }

  uint32(n) {
    this.align(4)
    this.bytes.push(n & 255, (n >> 8) & 255, (n >> 16) & 255, (n >> 24) & 255)
    return this.bytes.length - 4
  }

  value(type, value) {
    this.align(alignments[type[0]])
    switch (type[0]) {
      case 'y':
        return void this.bytes.push(value)
      case 'b':
      case 'u':
        return void this.uint32(Number(value))
      case 's':
      case 'o':
        this.uint32(Buffer.byteLength(value))
        return void this.bytes.push(...Buffer.from(value), 0)
      case 'g':
        return void this.bytes.push(value.length, ...Buffer.from(value), 0)
      case 'v':
        this.value('g', value.type)
        return this.value(value.type, value.value)
      case 'a':
        return this.array(type.slice(1), value)
      case '(':
      case '{':
        return types(type.slice(1, -1)).forEach((t, i) => this.value(t, value[i]))
      default:
        throw new Error(`cannot write the type ${type}`)
    }
  }

  array(item, value) {
    const at = this.uint32(0)
    this.align(alignments[item[0]])
    const start = this.bytes.length
    for (const v of item[0] === '{' ? Object.entries(value) : value) this.value(item, v)
    const length = this.bytes.length - start
    for (let i = 0; i < 4; i++) this.bytes[at + i] = (length >> (8 * i)) & 255
  }
}

// Messages --------------------------------------------------------------------------------------------------------

let serial = 0

/** Sends a message. Fields are [code, type, value]; the body is [signature, ...values]. */
function send(kind, fields, [signature, ...values] = ['']) {
  const body = new Writer()
  types(signature).forEach((t, i) => body.value(t, values[i]))
  const all = signature === '' ? fields : [...fields, [8, 'g', signature]]
  const head = new Writer()
  for (const byte of ['l'.charCodeAt(0), kind, 1, 1]) head.value('y', byte)
  head.value('u', body.bytes.length)
  head.value('u', ++serial)
  head.value('a(yv)', all.map(([code, type, value]) => [code, { type, value }]))
  head.align(8)
  process.stdout.write(Buffer.from([...head.bytes, ...body.bytes]))
}

class Failure extends Error {
  constructor(name) {
    super(name)
    this.errorName = name.includes('.') ? name : `${secrets}Error.${name}`
  }
}

const itemPath = (i) => `${collection}/${i}`
const prompting = { objects: [], open: false }

function end(dismissed, objects) {
  prompting.open = false
  send(4, [[1, 'o', prompt], [2, 's', `${secrets}Prompt`], [3, 's', 'Completed'], [7, 's', ':1.2']], ['bv', dismissed, { type: 'ao', value: objects }])
}

function item(path) {
  const state = read()
  const found = state.items[Number(path.slice(collection.length + 1))]
  if (!path.startsWith(`${collection}/`) || found === undefined) throw new Failure('NoSuchObject')
  if (state.locked) throw new Failure('IsLocked')
  return found
}

function stored([at, parameters, value, type]) {
  if (at !== session() || parameters.length !== 0) throw new Failure('NoSession')
  return { secret: value.toString('utf8'), type }
}

const sorted = (attributes) => Object.entries(attributes).map(([k, v]) => `${k}=${v}`).sort().join(' ')

/** What the methods answer: [signature, ...values]. */
const methods = {
  Hello: () => ['s', ':1.7'],
  AddMatch: () => [''],
  RemoveMatch: () => [''],
  Ping: () => [''],
  Close: () => [''],
  GetNameOwner: () => ['s', ':1.2'],
  NameHasOwner: () => ['b', true],
  StartServiceByName: () => ['u', 2],

  OpenSession(path, algorithm) {
    log('OpenSession', algorithm)
    if (algorithm !== 'plain') throw new Failure('org.freedesktop.DBus.Error.NotSupported')
    return ['vo', { type: 's', value: '' }, session()]
  },

  SearchItems(path, attributes) {
    log('SearchItems', sorted(attributes))
    const state = read()
    const found = state.items.flatMap((it, i) => (Object.entries(attributes).every(([k, v]) => it.attributes[k] === v) ? [itemPath(i)] : []))
    return ['aoao', state.locked ? [] : found, state.locked ? found : []]
  },

  Unlock(path, objects) {
    log('Unlock')
    const state = read()
    if (!state.locked) return ['aoo', objects, '/']
    if (state.prompt === 'none') {
      change((s) => void (s.locked = false))
      return ['aoo', objects, '/']
    }
    prompting.objects = objects
    return ['aoo', [], prompt]
  },

  Prompt(path, window) {
    log('Prompt', JSON.stringify(window))
    prompting.open = true
    const { prompt: does } = read()
    if (does === 'accept') {
      change((s) => void (s.locked = false))
      setImmediate(end, false, prompting.objects)
    } else if (does === 'dismiss') setImmediate(end, true, [])
    return ['']
  },

  Dismiss() {
    log('Dismiss')
    if (prompting.open) setImmediate(end, true, [])
    return ['']
  },

  ReadAlias: (path, name) => ['o', name === 'default' && read().default ? collection : '/'],

  GetSecret(path, at) {
    log('GetSecret')
    if (at !== session()) throw new Failure('NoSession')
    const { secret, type } = item(path)
    return ['(oayays)', [session(), [], Buffer.from(secret), type ?? 'text/plain']]
  },

  GetSecrets(path, paths, at) {
    log('GetSecret')
    if (at !== session()) throw new Failure('NoSession')
    return ['a{o(oayays)}', Object.fromEntries(paths.map((p) => [p, [session(), [], Buffer.from(item(p).secret), item(p).type ?? 'text/plain']]))]
  },

  SetSecret(path, secret) {
    log('SetSecret')
    item(path)
    const next = stored(secret)
    change((s) => void Object.assign(s.items[Number(path.slice(collection.length + 1))], next))
    return ['']
  },

  CreateItem(path, properties, secret, replace) {
    const attributes = properties[`${secrets}Item.Attributes`]
    log('CreateItem', String(replace), sorted(attributes))
    if (path !== collection) throw new Failure('NoSuchObject')
    if (read().locked) throw new Failure('IsLocked')
    const next = { attributes, ...stored(secret) }
    change((s) => void s.items.push(next))
    return ['oo', itemPath(read().items.length - 1), '/']
  },

  Get(path, iface, name) {
    const state = read()
    switch (`${iface}.${name}`) {
      case `${secrets}Item.Locked`:
      case `${secrets}Collection.Locked`:
        return ['v', { type: 'b', value: state.locked }]
      case `${secrets}Item.Attributes`:
        return ['v', { type: 'a{ss}', value: state.items[Number(path.slice(collection.length + 1))].attributes }]
      default:
        throw new Failure('org.freedesktop.DBus.Error.UnknownProperty')
    }
  },
}

function answer(head, args) {
  const { 1: path, 3: member } = head.fields
  const state = read()
  if (state.exit.includes(member)) process.exit(0)
  if (state.silent.includes(member)) return
  const to = [[5, 'u', head.serial], [6, 's', ':1.7'], [7, 's', head.fields[6] === 'org.freedesktop.DBus' ? 'org.freedesktop.DBus' : ':1.2']]
  const quiet = (head.flags & 1) !== 0
  try {
    if (state.fail.includes(member)) throw new Failure('org.freedesktop.DBus.Error.Failed')
    if (!Object.hasOwn(methods, member)) throw new Failure('org.freedesktop.DBus.Error.UnknownMethod')
    const body = methods[member](path, ...args)
    if (!quiet) send(2, to, body)
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    if (!quiet) send(3, [...to, [4, 's', cause.errorName]], ['s', cause.message])
  }
}

// The connection --------------------------------------------------------------------------------------------------

let input = Buffer.alloc(0)
let begun = false

/** Answers a line of the authentication. */
function authenticate(line) {
  const [command, mechanism, id] = line.replace(/^\0/, '').trim().split(' ')
  const user = Buffer.from(String(process.getuid())).toString('hex')
  const accept = (given) => (given === user ? 'OK 0123456789abcdef0123456789abcdef' : 'REJECTED EXTERNAL')
  if (command === 'BEGIN') begun = true
  else if (command === 'AUTH' && mechanism === 'EXTERNAL') process.stdout.write(`${id === undefined ? 'DATA' : accept(id)}\r\n`)
  else if (command === 'AUTH') process.stdout.write('REJECTED EXTERNAL\r\n')
  else if (command === 'DATA') process.stdout.write(`${accept(mechanism ?? user)}\r\n`)
  else process.stdout.write('ERROR\r\n')
}

/** Takes the next message from the input, and reports whether there was one. */
function message() {
  if (input.length < 16) return false
  const reader = new Reader(input, input[0] === 'l'.charCodeAt(0), 4)
  const bodyLength = reader.uint32()
  const head = { flags: input[2], serial: reader.uint32(), fields: {} }
  const body = 16 + Math.ceil(reader.uint32() / 8) * 8
  if (input.length < body + bodyLength) return false
  reader.at = 12
  head.fields = Object.fromEntries(reader.value('a(yv)'))
  const own = Buffer.from(input.subarray(body, body + bodyLength))
  const args = new Reader(own, reader.little)
  const kind = input[1]
  input = Buffer.from(input.subarray(body + bodyLength))
  if (kind === 1) answer(head, types(head.fields[8] ?? '').map((t) => args.value(t)))
  return true
}

process.stdin.on('data', (chunk) => {
  input = Buffer.concat([input, chunk])
  while (!begun && input.includes('\r\n')) {
    const at = input.indexOf('\r\n')
    const line = input.toString('latin1', 0, at)
    input = Buffer.from(input.subarray(at + 2))
    authenticate(line)
  }
  while (begun && message());
})
process.stdin.on('end', () => process.exit(0))
