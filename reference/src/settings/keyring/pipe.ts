import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { BusAddress } from './address.ts'

/** Both directions of a connection to a bus. */
export interface Pipe {
  input: Readable
  output: Writable
  /** Ends the connection, and the program that made it. */
  end: () => void
}

/**
 * Connects to an entry of an address, of the transports `unix` and `unixexec` (G53). Throws if it has another one. `failed` gets the
 * reason if the connection fails or ends.
 */
export function openPipe({ transport, parameters }: BusAddress, environment: NodeJS.ProcessEnv, failed: (reason: Error) => void): Pipe {
  const pipe = openTransport(transport, parameters, environment, failed)
  for (const stream of new Set([pipe.input, pipe.output])) stream.on('error', failed)
  pipe.input.on('close', () => { failed(new Error('the connection to the bus has ended')) })
  return pipe
}

function openTransport(
  transport: string,
  parameters: ReadonlyMap<string, string>,
  environment: NodeJS.ProcessEnv,
  failed: (reason: Error) => void,
): Pipe {
  const path = parameters.get('path')
  const abstract = parameters.get('abstract')
  if (transport === 'unix' && path !== undefined && abstract === undefined) return openSocket(path)
  if (transport === 'unix' && path === undefined && abstract !== undefined) return openSocket(`\0${abstract}`)
  if (transport === 'unixexec' && path !== undefined) return startProgram(path, parameters, environment, failed)
  throw new Error(`the transport ${JSON.stringify(transport)} does not work here, or lacks a parameter`)
}

function openSocket(path: string): Pipe {
  const socket = connect({ path })
  return { input: socket, output: socket, end: () => void socket.destroy() }
}

function startProgram(path: string, parameters: ReadonlyMap<string, string>, env: NodeJS.ProcessEnv, failed: (reason: Error) => void): Pipe {
  const args: string[] = []
  for (let arg = parameters.get('argv1'); arg !== undefined; arg = parameters.get(`argv${args.length + 1}`)) args.push(arg)
  const program = spawn(path, args, { env, argv0: parameters.get('argv0') ?? path, stdio: ['pipe', 'pipe', 'ignore'] })
  program.on('error', failed)
  return { input: program.stdout, output: program.stdin, end: () => void program.kill('SIGKILL') }
}
