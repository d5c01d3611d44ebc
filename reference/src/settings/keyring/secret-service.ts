import { Bus } from './bus.ts'

/** How long reaching the service may take (G53), how long a prompt, and how long there is then no other one (G56). */
const [reachMs, promptMs, calmMs] = [5000, 60_000, 60_000]

const service = 'org.freedesktop.secrets'
const root = '/org/freedesktop/secrets'
const secret = 'org.freedesktop.Secret'
/** Where objects lead that do not exist. */
const nowhere = '/'

/** The attributes by which the item is searched, as goose does (G54). */
const searched = [['service', 'goose'], ['username', 'secrets'], ['target', 'default']]

/** What one prompt has led to, for all connections of a server. */
export class PromptHistory {
  #calmUntil = 0

  /** Throws if a prompt was refused a moment ago. */
  check(): void {
    if (performance.now() < this.#calmUntil) throw new Error('the keyring is locked, and its last prompt was refused')
  }

  refused(why: string): Error {
    this.#calmUntil = performance.now() + calmMs
    return new Error(`the prompt of the keyring was ${why}`)
  }
}

/** A Secret Service on a bus, with an open session. */
export class SecretService {
  readonly #bus: Bus
  readonly #session: string
  readonly #prompts: PromptHistory
  #unlocking: { path: string; done: Promise<void> } | undefined

  private constructor(bus: Bus, session: string, prompts: PromptHistory) {
    this.#bus = bus
    this.#session = session
    this.#prompts = prompts
  }

  /** Connects to the service on the bus with this address. Rejects if this takes too long. */
  static async connect(address: string, environment: NodeJS.ProcessEnv, prompts: PromptHistory, stop: AbortSignal): Promise<SecretService> {
    const late = new AbortController()
    const timer = setTimeout(() => {
      late.abort(new Error(`no keyring within ${reachMs} ms`))
    }, reachMs)
    const signal = AbortSignal.any([late.signal, stop])
    let bus: Bus | undefined
    const onAbort = (): void => bus?.close(signal.reason as Error) // the reason of an abort is always an Error
    signal.addEventListener('abort', onAbort)
    try {
      bus = await Bus.connect(address, environment, signal)
      signal.throwIfAborted()
      const opened = await bus.call(serviceCall('OpenSession', 'sv', 'plain', ['s', '']))
      return new SecretService(bus, text(opened[1]), prompts)
    } catch (error) {
      bus?.close()
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  get isClosed(): boolean {
    return this.#bus.isClosed
  }

  close(): void {
    this.#bus.close()
  }

  /** The path of the item with all secrets, unlocked; undefined if there is none. Rejects if there are several. */
  async find(): Promise<string | undefined> {
    const [open, locked] = (await this.#bus.call(serviceCall('SearchItems', 'a{ss}', searched))).map(texts)
    const found = [...(open ?? []), ...(locked ?? [])]
    if (found.length > 1) throw new Error(`the keyring has ${found.length} items with secrets; there must be one`)
    if (locked?.[0] !== undefined) await this.#unlock(locked[0])
    return found[0]
  }

  /** The bytes of an item. */
  async read(item: string): Promise<Buffer> {
    const [answer] = await this.#bus.call(call(item, 'Item', 'GetSecret', 'o', this.#session))
    const value: unknown = Array.isArray(answer) ? answer[2] : undefined
    if (!Buffer.isBuffer(value)) throw new Error('the keyring sent no secret')
    return value
  }

  async write(item: string, value: Buffer): Promise<void> {
    await this.#bus.call(call(item, 'Item', 'SetSecret', '(oayays)', this.#secretOf(value)))
  }

  /** Creates the item in the default collection. */
  async create(value: Buffer): Promise<void> {
    const [alias] = await this.#bus.call(serviceCall('ReadAlias', 's', 'default'))
    const collection = text(alias)
    if (collection === nowhere) throw new Error('the keyring has no default collection')
    if (await this.#isLocked(collection)) await this.#unlock(collection)
    const attributes = [...searched, ['application', 'rust-keyring']]
    const properties = [
      [`${secret}.Item.Label`, ['s', 'goose']],
      [`${secret}.Item.Attributes`, ['a{ss}', attributes]],
    ]
    const [, prompt] = await this.#bus.call(
      call(collection, 'Collection', 'CreateItem', 'a{sv}(oayays)b', properties, this.#secretOf(value), false),
    )
    await this.#answerPrompt(text(prompt))
  }

  async #isLocked(collection: string): Promise<boolean> {
    const get = { destination: service, path: collection, interface: 'org.freedesktop.DBus.Properties', member: 'Get' }
    const [variant] = await this.#bus.call({ ...get, signature: 'ss', body: [`${secret}.Collection`, 'Locked'] })
    return Array.isArray(variant) && Array.isArray(variant[1]) && variant[1][0] === true
  }

  #secretOf(value: Buffer): unknown[] {
    return [this.#session, [], value, 'text/plain']
  }

  /** Unlocks an object. Accesses that come meanwhile wait, and share the outcome. */
  async #unlock(path: string): Promise<void> {
    const other = this.#unlocking
    if (other !== undefined) {
      await other.done
      if (other.path === path) return
      return this.#unlock(path)
    }
    const done = this.#unlockNow(path).finally(() => (this.#unlocking = undefined))
    this.#unlocking = { path, done }
    return done
  }

  async #unlockNow(path: string): Promise<void> {
    const [, prompt] = await this.#bus.call(serviceCall('Unlock', 'ao', [path]))
    await this.#answerPrompt(text(prompt))
  }

  /** Opens a prompt, if there is one, and waits for its end. */
  async #answerPrompt(path: string): Promise<void> {
    if (path === nowhere) return
    this.#prompts.check()
    const rule = `type='signal',sender='${service}',path='${path}',interface='${secret}.Prompt',member='Completed'`
    const completed = this.#bus.listen(path, `${secret}.Prompt`, 'Completed') // it may come before the answer to Prompt
    const late = new AbortController()
    const timer = setTimeout(() => {
      late.abort(this.#prompts.refused('not answered'))
    }, promptMs)
    try {
      await this.#bus.call(busCall('AddMatch', rule))
      await this.#bus.call(call(path, 'Prompt', 'Prompt', 's', ''))
      const [isDismissed] = await completed.next(late.signal)
      if (isDismissed !== false) throw this.#prompts.refused('dismissed')
    } finally {
      clearTimeout(timer)
      completed.stop()
      // Nothing depends on the answers.
      if (late.signal.aborted) this.#bus.call(call(path, 'Prompt', 'Dismiss')).catch(() => undefined)
      this.#bus.call(busCall('RemoveMatch', rule)).catch(() => undefined)
    }
  }
}

function call(path: string, iface: string, member: string, signature?: string, ...body: unknown[]): Parameters<Bus['call']>[0] {
  return { destination: service, path, interface: `${secret}.${iface}`, member, ...(signature !== undefined && { signature, body }) }
}

function serviceCall(member: string, signature: string, ...body: unknown[]): Parameters<Bus['call']>[0] {
  return call(root, 'Service', member, signature, ...body)
}

function busCall(member: string, rule: string): Parameters<Bus['call']>[0] {
  const bus = 'org.freedesktop.DBus'
  return { destination: bus, path: '/org/freedesktop/DBus', interface: bus, member, signature: 's', body: [rule] }
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('the keyring sent an answer with other types')
  return value
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(text) : [text(value)]
}
