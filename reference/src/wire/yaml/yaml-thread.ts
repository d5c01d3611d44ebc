import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import { startOwnThread } from '../../own-thread.ts'
import { documentInSlices } from '../json/document.ts'
import { stringifyJson } from '../json/stringify.ts'
import { parseYaml } from './yaml.ts'

/** A document of more bytes may take a tenth of a second, and the largest ones take many seconds. */
export const largeYaml = 32 * 1024
/** How long a document may take. */
const limitMs = 60_000
const role = 'yaml'

/** The value as JSON, which keeps the digits of numbers and the order of keys; or the message of the mistake. */
type Outcome = { json: string } | { mistake: string }

/**
 * The value of a YAML document, like that of `parseYaml`. A thread of its own parses it, so that the server is not blocked.
 * Rejects with a SyntaxError if the text is not YAML, and with another error if it takes too long or too much memory.
 */
export async function parseYamlInThread(yaml: Uint8Array): Promise<unknown> {
  const outcome = await outcomeOf(yaml)
  if ('mistake' in outcome) throw new SyntaxError(outcome.mistake)
  return (await documentInSlices(outcome.json)).value
}

async function outcomeOf(yaml: Uint8Array): Promise<Outcome> {
  const thread = startOwnThread(import.meta.url, role)
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<Outcome>((resolve, reject) => {
      timer = setTimeout(() => { reject(new Error(`the file takes more than ${limitMs} ms to read`)) }, limitMs)
      thread.on('message', resolve)
      thread.on('error', reject)
      thread.postMessage(yaml)
    })
  } finally {
    clearTimeout(timer)
    void thread.terminate()
  }
}

if (!isMainThread && workerData === role) {
  parentPort?.once('message', (yaml: Uint8Array) => {
    parentPort?.postMessage(parse(yaml))
  })
}

function parse(yaml: Uint8Array): Outcome {
  try {
    return { json: stringifyJson(parseYaml(yaml)) }
  } catch (error) {
    if (error instanceof SyntaxError) return { mistake: error.message }
    throw error
  }
}
