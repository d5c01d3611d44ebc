import { isMainThread, parentPort, workerData, type Worker } from 'node:worker_threads'
import { startOwnThread } from '../../own-thread.ts'
import {
  limitExceeded, perform, resultOf, taskRequest, type TaskRequest, type TaskOutcome, type TaskName, type Tasks,
} from './recipe-tasks.ts'

/** Runs the tasks on recipes that may take long. Rejects with the error of the task, or with the reason of the signal. */
export interface RecipeWorker {
  run: <N extends TaskName>(name: N, given: Tasks[N]['given'], signal?: AbortSignal) => Promise<Tasks[N]['result']>
  close: () => Promise<void>
}

/**
 * How long each task may take. Rendering has its own limits (G22), and the size of a file limits reading (G23). A schema,
 * however, may take for ever to check (G28).
 */
const timeLimits: Readonly<Record<TaskName, number>> = {
  check: 10_000,
  read: 10_000,
  validate: 10_000,
  render: 10_000,
  output: 10_000,
  checkOutput: 2000,
}
const memoryLimitMb = 384
const role = 'recipes'
/** The message that the thread sends when it starts a task. */
const begun = 'begun'

interface Job {
  request: TaskRequest
  settle: (outcome: TaskOutcome) => void
  fail: (reason: unknown) => void
}

/**
 * Runs tasks in a thread, one after the other, so that no recipe blocks the server. Aborting a task, or exceeding its time limit,
 * ends the thread; the next task starts a new one.
 */
export class RecipeWorkerThread implements RecipeWorker {
  readonly #waiting: Job[] = []
  readonly #limits: Readonly<Record<TaskName, number>>
  #thread: Worker | undefined
  #current: Job | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(limits: Partial<Record<TaskName, number>> = {}) {
    this.#limits = { ...timeLimits, ...limits }
  }

  async run<N extends TaskName>(name: N, given: Tasks[N]['given'], signal?: AbortSignal): Promise<Tasks[N]['result']> {
    signal?.throwIfAborted()
    const request = taskRequest(name, given)
    let leave = (): void => undefined
    const outcome = new Promise<TaskOutcome>((settle, fail) => {
      const job = { request, settle, fail }
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
    this.#thread.postMessage(this.#current.request)
  }

  #start(): Worker {
    const thread = startOwnThread(import.meta.url, role, { maxOldGenerationSizeMb: memoryLimitMb })
    thread.on('message', (message: TaskOutcome | typeof begun) => {
      if (thread !== this.#thread || this.#current === undefined) return
      if (message === begun) {
        this.#watch(this.#current)
        return
      }
      this.#done()?.settle(message)
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

  /** Starts the clock of a task. The time in which a new thread starts does not count. */
  #watch({ request: { name } }: Job): void {
    this.#timer = setTimeout(() => {
      this.#break('it takes too long')
    }, this.#limits[name])
  }

  /** Clears the current job, and returns it. */
  #done(): Job | undefined {
    clearTimeout(this.#timer)
    const job = this.#current
    this.#current = undefined
    return job
  }

  /** Ends the thread, and fails its current job for exceeding a limit. */
  #break(message: string): void {
    const job = this.#end()
    job?.settle(limitExceeded(job.request.name, message))
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
  parentPort?.on('message', (request: TaskRequest) => {
    parentPort?.postMessage(begun)
    parentPort?.postMessage(perform(request))
  })
}
