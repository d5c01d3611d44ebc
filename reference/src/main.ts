import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import process from 'node:process'
import { isMainThread } from 'node:worker_threads'
import { loadConfig } from './config.ts'
import { LogFile } from './log-file.ts'
import { jsonLogger, type Logger } from './log.ts'
import { extensionKey } from './domain/extension/config.ts'
import { startServer, type ServerOptions } from './server.ts'
import { prepareRoot, serverLogs } from './settings/paths.ts'
import { startTelemetry } from './telemetry/load.ts'
import type { Sdk } from './telemetry/sdk.ts'
import { readTelemetrySettings } from './telemetry/settings.ts'
import { version } from './version.ts'

const exitOk = 0
const exitFailed = 1
const exitUsage = 2
/** How long exports may take at the end (T12), and how long all of the end may take: the process must have ended after 5 s (S19). */
const exportMs = 2000
const stopMs = 4800

const usage = `usage: node dist/main.js agent [flags]

  --host ADDRESS            address to listen on, an IP literal ($GOOSE_HOST, 127.0.0.1)
  --port PORT               port to listen on; 0 picks a free one ($GOOSE_PORT, 3000)
  --config FILE             configuration file ($AGENTD_CONFIG, ~/.config/opencode/config.json)
  --directory DIRECTORY     directory of requests that name none ($AGENTD_DIRECTORY, the working directory)
  --default-timeout MS      how long an execution waits for its result ($AGENTD_DEFAULT_TIMEOUT, 30000)
  --keepalive-interval MS   time between two pings of a pending stream ($AGENTD_KEEPALIVE_INTERVAL, 30000)
  --max-body BYTES          largest request body ($AGENTD_MAX_BODY, 52428800)
  --body-grace MS           how long a request body may be slow at first ($AGENTD_BODY_GRACE, 10000)
  --allow-origin ORIGIN     origin of pages that may use client tools, again for each further one, or *
                            ($AGENTD_ALLOWED_ORIGINS, separated by commas; those of this machine always may)
  --host-name NAME          name of this machine in requests ($AGENTD_HOST_NAME)
  --exit-with-stdin         stop when standard input ends
  --insecure                listen on any address although the secret is test ($GOOSE_SERVER__SECRET_KEY)

  $GOOSE_PATH_ROOT          directory of settings, sessions and logs; in the home directory if it is not set
  $GOOSE_CACHE_DIR          directory of the prices of models; in the home directory if it is not set
  $GOOSE_PRICING_URL        list of prices, an http or https URL, or none; that of OpenRouter if it is not set
  $GOOSE_OAUTH_BROWSER      command that opens the page of a sign-in, or none; xdg-open if it is not set
  $GOOSE_DISABLE_KEYRING    if it is set, secrets are in a file, and not in the keyring
  $OTEL_EXPORTER_OTLP_ENDPOINT
                            where traces, metrics and logs are sent; nowhere if it is not set
`

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usage)
    return
  }
  if (args.includes('--version')) {
    process.stdout.write(`agentd ${version}\n`)
    return
  }
  const [command, ...flags] = args
  if (command === 'mcp') {
    const [name = '', ...more] = flags
    if (more.length > 0 || extensionKey(name) !== 'developer') {
      process.stderr.write(`reference-server: there is no extension ${JSON.stringify(flags.join(' '))} here; there is developer\n`)
      process.exit(exitUsage)
    }
    const { serveDeveloper } = await import('./mcp/developer/server.ts')
    await serveDeveloper()
    return
  }
  if (command !== 'agent') {
    const problem = command === undefined ? 'a command is missing' : `there is no command ${JSON.stringify(command)}`
    process.stderr.write(`reference-server: ${problem}\n${usage}`)
    process.exit(exitUsage)
  }
  const loaded = await loadConfig(flags, {
    env: process.env,
    home: homedir(),
    workingDirectory: process.cwd(),
    readFile,
  })
  if (!loaded.ok) {
    for (const { where, what } of loaded.problems) process.stderr.write(`reference-server: ${where}: ${what}\n`)
    process.exit(exitUsage)
  }
  for (const warning of loaded.warnings) process.stderr.write(`warning: ${warning}\n`)

  try {
    prepareRoot(process.env)
  } catch (error) {
    fail(error)
  }
  const { logger, sdk } = await startLog(loaded.options)
  process.on('uncaughtException', (err) => {
    logger.error('server broke', { err })
    process.exit(exitFailed)
  })
  const stopped = Promise.race([firstSignal(), ...(loaded.exitsWithStdin ? [endOfInput()] : [])])
  const print = (line: string): boolean => process.stderr.write(`${line}\n`)
  const ownCommand = [process.execPath, ...process.argv.slice(1, 2)]
  const server = await startServer({ ...loaded.options, print, ownCommand, telemetry: sdk?.telemetry }, logger).catch(fail)
  process.stdout.write(`listening on ${server.url}\n`)
  logger.info('stopping', { signal: await stopped })
  const since = performance.now()
  await server.stop()
  logger.info('stopped')
  await sdk?.shutdown(Math.min(exportMs, stopMs - (performance.now() - since)))
  process.exit(exitOk)
}

/** Opens the log, and starts the export of telemetry if the environment wants it (GA 36.1). */
async function startLog({ paths, environment }: Pick<ServerOptions, 'paths' | 'environment'>): Promise<{ logger: Logger; sdk: Sdk | undefined }> {
  const file = new LogFile(serverLogs(paths), new Date(), (why) => process.stderr.write(`reference-server: log file: ${why}\n`))
  const write = (line: string): void => {
    process.stderr.write(line)
    file.write(line)
  }
  const { settings, warnings } = readTelemetrySettings(environment)
  for (const warning of warnings) write(`warning: ${warning}\n`)
  if (settings === undefined) return { logger: jsonLogger(write), sdk: undefined }
  const sdk = await startTelemetry(settings, jsonLogger(write))
  return { logger: sdk.exporting(jsonLogger(write, undefined, () => sdk.lineIds())), sdk }
}

/** Ends a program that cannot start. */
function fail(error: unknown): never {
  process.stderr.write(`reference-server: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(exitFailed)
}

/** Resolves when standard input ends, for example because the program at its other end has ended (S55). */
function endOfInput(): Promise<'end of standard input'> {
  return new Promise((resolve) => {
    const onEnd = (): void => {
      resolve('end of standard input')
    }
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, onEnd)
    process.stdin.resume()
  })
}

/** Resolves with the first signal to stop. A second signal ends the process at once (S19). */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let stopping = false
    const onSignal = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(exitFailed)
      stopping = true
      resolve(signal)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}

// The server keeps running if the reader of its output has gone.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)

// The recipe worker thread runs this file too, but not `main`.
if (isMainThread) void main(process.argv.slice(2))
