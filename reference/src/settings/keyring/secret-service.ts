import { Bus, CallError, LateError } from './bus.ts'
import type { Call } from './messages.ts'
import type { Value } from './values.ts'

/** How long reaching the service may take (G53), how long a prompt, and how long there is then no other one (G56). */
const [reachMs, promptMs, calmMs] = [5000, 60_000, 60_000]

const service = 'org.freedesktop.secrets'
const root = '/org/freedesktop/secrets'
const secret = 'org.freedesktop.Secret'
/** The path of objects that do not exist. */
const nowhere = '/'
/** Nothing is returned, or no arguments are given. */
const nothing = ''

/** The attributes by which the item is searched, as goose does (G54). */
const searched = [['service', 'goose'], ['username', 'secrets'], ['target', 'default']]

/** Whether an error says that the service does not know the session. */
export function isSessionLost(error: unknown): error is CallError {
  return error instanceof CallError && error.errorName === `${secret}.Error.NoSession`
}

/** What one prompt has led to, for all connections of a server. */
export class PromptHistory {
  #calmUntil = 0

  /** Throws if a prompt was refused a moment ago. */
  check(): void {
    if (performance.now() < this.#calmUntil) throw new Error('the keyring is locked, and its last prompt was refused')
  }

  refused(why: string, cause?: unknown): Error {
    this.#calmUntil = performance.now() + calmMs
    return new Error(`the prompt of the keyring was ${why}`, { cause })
  }
}

/** A Secret Service on a bus, with an open session. */
export class SecretService {
  readonly #bus: Bus
  readonly #session: string
  readonly #prompts: PromptHistory

  private constructor(bus: Bus, session: string, prompts: PromptHistory) {
    this.#bus = bus
    this.#session = session
    this.#prompts = prompts
  }

  /** Connects to the service on the bus with this address. Rejects if this takes too long. */
  static async connect(address: string, environment: NodeJS.ProcessEnv, prompts: PromptHistory, stop: AbortSignal): Promise<SecretService> {
    const late = new AbortController()
    const timer = setTimeout(() => {
      late.abort(new LateError(`no keyring within ${reachMs} ms`))
    }, reachMs)
    const signal = AbortSignal.any([late.signal, stop])
    let bus: Bus | undefined
    const onAbort = (): void => bus?.close(signal.reason as Error) // the reason of an abort is always an Error
    signal.addEventListener('abort', onAbort)
    try {
      bus = await Bus.connect(address, environment, signal)
      signal.throwIfAborted()
      const opened = await bus.call(serviceCall('OpenSession', 'sv', 'plain', ['s', '']), 'vo')
      return new SecretService(bus, text(opened[1]), prompts)
    } catch (error) {
      bus?.close(error as Error) // what is thrown here is always an Error
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  get isClosed(): boolean {
    return this.#bus.isClosed
  }

  close(reason: Error): void {
    this.#bus.close(reason)
  }

  /** The path of the item with all secrets, unlocked; undefined if there is none. Rejects if there are several. */
  async find(): Promise<string | undefined> {
    const [open, locked] = (await this.#bus.call(serviceCall('SearchItems', 'a{ss}', searched), 'aoao')).map(texts)
    const found = [...(open ?? []), ...(locked ?? [])]
    if (found.length > 1) throw new Error(`the keyring has ${found.length} items with secrets; there must be one`)
    if (locked?.[0] !== undefined) await this.#unlock(locked[0])
    return found[0]
  }

  /** The bytes of an item. */
  async read(item: string): Promise<Buffer> {
    const [answer] = await this.#bus.call(call(item, 'Item', 'GetSecret', 'o', this.#session), '(oayays)')
    return (answer as readonly [string, Buffer, Buffer, string])[2] // by its signature
  }

  async write(item: string, value: Buffer): Promise<void> {
    await this.#bus.call(call(item, 'Item', 'SetSecret', '(oayays)', this.#secretOf(value)), nothing)
  }

  /** Creates the item in the default collection. */
  async create(value: Buffer): Promise<void> {
    const [alias] = await this.#bus.call(serviceCall('ReadAlias', 's', 'default'), 'o')
    const collection = text(alias)
    if (collection === nowhere) throw new Error('the keyring has no default collection')
    if (await this.#isLocked(collection)) await this.#unlock(collection)
    const attributes = [...searched, ['application', 'rust-keyring']]
    const properties = [
      [`${secret}.Item.Label`, ['s', 'goose']],
      [`${secret}.Item.Attributes`, ['a{ss}', attributes]],
    ]
    const creation = call(collection, 'Collection', 'CreateItem', 'a{sv}(oayays)b', properties, this.#secretOf(value), false)
    const [, prompt] = await this.#bus.call(creation, 'oo')
    await this.#answerPrompt(text(prompt))
  }

  async #isLocked(collection: string): Promise<boolean> {
    const get = { destination: service, path: collection, interface: 'org.freedesktop.DBus.Properties', member: 'Get' }
    const [isLocked] = await this.#bus.call({ ...get, signature: 'ss', body: [`${secret}.Collection`, 'Locked'] }, 'v')
    return isLocked === true
  }

  #secretOf(value: Buffer): Value[] {
    return [this.#session, [], value, 'text/plain']
  }

  async #unlock(path: string): Promise<void> {
    const [, prompt] = await this.#bus.call(serviceCall('Unlock', 'ao', [path]), 'aoo')
    await this.#answerPrompt(text(prompt))
  }

  /** Opens a prompt, if there is one, and waits for its end. */
  async #answerPrompt(path: string): Promise<void> {
    if (path === nowhere) return
    this.#prompts.check()
    const completed = { path, interface: `${secret}.Prompt`, member: 'Completed', signature: 'bv' }
    const rule = `type='signal',sender='${service}',path='${path}',interface='${completed.interface}',member='${completed.member}'`
    const listening = this.#bus.listen(completed) // it may come before the answer to Prompt
    try {
      await this.#bus.call(busCall('AddMatch', rule), nothing)
      const [isDismissed] = await this.#open(path, listening.next)
      if (isDismissed !== false) throw this.#prompts.refused('dismissed')
    } finally {
      listening.stop()
      this.#bus.call(busCall('RemoveMatch', rule), nothing).catch(() => undefined) // nothing depends on the answer
    }
  }

  /** Opens a prompt, and waits for its outcome. A prompt whose connection breaks is not answered (G56). */
  async #open(path: string, outcome: (until: AbortSignal) => Promise<Value[]>): Promise<Value[]> {
    const late = new AbortController()
    const timer = setTimeout(() => {
      late.abort(new Error(`no answer to the prompt within ${promptMs} ms`))
    }, promptMs)
    try {
      await this.#bus.call(call(path, 'Prompt', 'Prompt', 's', ''), nothing)
      return await outcome(late.signal)
    } catch (cause) {
      if (cause instanceof CallError) throw cause // there is no prompt
      throw this.#prompts.refused('not answered', cause)
    } finally {
      clearTimeout(timer)
      if (late.signal.aborted) this.#bus.call(call(path, 'Prompt', 'Dismiss', nothing), nothing).catch(() => undefined)
    }
  }
}

function call(path: string, iface: string, member: string, signature: string, ...body: Value[]): Call {
  return { destination: service, path, interface: `${secret}.${iface}`, member, signature, body }
}

function serviceCall(member: string, signature: string, ...body: Value[]): Call {
  return call(root, 'Service', member, signature, ...body)
}

function busCall(member: string, rule: string): Call {
  const bus = 'org.freedesktop.DBus'
  return { destination: bus, path: '/org/freedesktop/DBus', interface: bus, member, signature: 's', body: [rule] }
}

/** A value whose type is one of texts. */
function text(value: Value | undefined): string {
  return String(value)
}

/** A value whose type is an array of texts. */
function texts(value: Value): string[] {
  return (value as readonly Value[]).map(text)
}
