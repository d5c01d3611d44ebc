import { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Starts a thread that runs this module, which must find its role in `workerData`. The bundle is a single file, which all threads
 * run. TypeScript sources need a loader.
 */
export function startOwnThread(moduleUrl: string, role: string, resourceLimits: WorkerOptions['resourceLimits'] = {}): Worker {
  const options = { workerData: role, resourceLimits }
  const fromSource = `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(moduleUrl)}) })`
  const thread = moduleUrl.endsWith('.ts') ? new Worker(fromSource, { ...options, eval: true }) : new Worker(new URL(moduleUrl), options)
  thread.unref()
  return thread
}
