import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
import { order, perform, resultOf, tooMuch } from './tasks.ts'
import type { Order, Outcome, TaskName, Tasks } from './tasks.ts'

/** Does what may take long with recipes. Rejects with the errors of the tasks, or with the signal's reason. */
export interface Workshop {
  do: <N extends TaskName>(name: N, given: Tasks[N]['given'], signal?: AbortSignal) => Promise<Tasks[N]['result']>
  close: () => Promise<void>
}

/** Does it at once, while everything else waits. */
export const here: Workshop = {
  // eslint-disable-next-line @typescript-eslint/require-await -- others do it elsewhere
  do: async <N extends TaskName>(name: N, given: Tasks[N]['given']) => resultOf(perform(order(name, given))) as Tasks[N]['result'],
  // eslint-disable-next-line @typescript-eslint/require-await -- there is nothing to close
  close: async () => undefined,
}

/**
 * How long a task may take. Rendering is bounded by itself (G22), and reading by the size of a file (G23), but a schema may ask
 * or search without end (G28).
 */
const timeLimits: Readonly<Record<TaskName, number>> = {
  check: 10_000,
  read: 10_000,
  validate: 10_000,
  render: 10_000,
  output: 10_000,
  faults: 2000,
}
const memoryLimitMb = 384
const role = 'recipes'
/** What the thread says when it has a task in its hands. */
const begun = 'begun'

/** The bundle is one file, which the thread starts with too; TypeScript sources need a loader. */
const isSource = import.meta.url.endsWith('.ts')
const fromSource = `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(import.meta.url)}) })`

interface Job {
  order: Order
  settle: (outcome: Outcome) => void
  fail: (reason: unknown) => void
}

/**
 * Does it in a thread, one task after the other, so that no recipe keeps the server from answering. The thread ends with a task
 * that nobody waits for any more, or that takes too long; the next task gets a new one.
 */
export class WorkshopThread implements Workshop {
  readonly #waiting: Job[] = []
  readonly #limits: Readonly<Record<TaskName, number>>
  #thread: Worker | undefined
  #current: Job | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(limits: Partial<Record<TaskName, number>> = {}) {
    this.#limits = { ...timeLimits, ...limits }
  }

  async do<N extends TaskName>(name: N, given: Tasks[N]['given'], signal?: AbortSignal): Promise<Tasks[N]['result']> {
    signal?.throwIfAborted()
    const ordered = order(name, given)
    let leave = (): void => undefined
    const outcome = new Promise<Outcome>((settle, fail) => {
      const job = { order: ordered, settle, fail }
      leave = (): void => {
        this.#drop(job, signal?.reason)
      }
      this.#waiting.push(job)
    })
    signal?.addEventListener('abort', leave, { once: true })
    this.#next()
    try {
      return resultOf(await outcome) as Tasks[N]['result']
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  async close(): Promise<void> {
    for (const job of this.#waiting.splice(0)) job.fail(new Error('the server stops'))
    if (this.#current !== undefined) this.#drop(this.#current, new Error('the server stops'))
    await this.#thread?.terminate()
  }

  #next(): void {
    if (this.#current !== undefined) return
    this.#current = this.#waiting.shift()
    if (this.#current === undefined) return
    this.#thread ??= this.#start()
    this.#thread.postMessage(this.#current.order)
  }

  #start(): Worker {
    const options = { workerData: role, resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb } }
    const thread = isSource ? new Worker(fromSource, { ...options, eval: true }) : new Worker(new URL(import.meta.url), options)
    thread.unref()
    thread.on('message', (told: Outcome | typeof begun) => {
      if (thread !== this.#thread || this.#current === undefined) return
      if (told === begun) {
        this.#watch(this.#current)
        return
      }
      this.#done()?.settle(told)
      this.#next()
    })
    thread.on('error', (error) => {
      if (thread !== this.#thread) return
      if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#break('it takes too much memory')
      else this.#end()?.fail(error)
      this.#next()
    })
    return thread
  }

  /** The time that a new thread takes to start is not the task's. */
  #watch({ order: { name } }: Job): void {
    this.#timer = setTimeout(() => {
      this.#break('it takes too long')
    }, this.#limits[name])
  }

  /** Takes the current job out of the thread's hands. */
  #done(): Job | undefined {
    clearTimeout(this.#timer)
    const job = this.#current
    this.#current = undefined
    return job
  }

  /** Ends the thread, and with it the current job, which is too much for it. */
  #break(message: string): void {
    const job = this.#end()
    job?.settle(tooMuch(job.order.name, message))
    this.#next()
  }

  #drop(job: Job, reason: unknown): void {
    const at = this.#waiting.indexOf(job)
    if (at !== -1) this.#waiting.splice(at, 1)
    else if (job === this.#current) this.#end()
    job.fail(reason)
    this.#next()
  }

  #end(): Job | undefined {
    void this.#thread?.terminate()
    this.#thread = undefined
    return this.#done()
  }
}

if (!isMainThread && workerData === role) {
  parentPort?.on('message', (ordered: Order) => {
    parentPort?.postMessage(begun)
    parentPort?.postMessage(perform(ordered))
  })
}
