import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { JsonDocument } from '../../wire/json/document.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { silentListener } from '../../testing/silent-listener.ts'
import { ExtensionError } from './connection.ts'
import { maxMessageBytes } from './event-messages.ts'
import { McpConnection } from './mcp-connection.ts'
import { ProcessTransport, type ProcessOptions } from './process-transport.ts'

const environment = { PATH: process.env.PATH ?? '' }

function transportOf(options: Partial<ProcessOptions>): ProcessTransport {
  const transport = new ProcessTransport({
    command: 'bash', searchPath: environment.PATH, args: [], environment, directory: tmpdir(), ...options,
  })
  onTestFinished(() => transport.close())
  return transport
}

const directory = mkdtempSync(join(tmpdir(), 'process-'))
writeFileSync(join(directory, 'plain'), '#!/bin/sh\n', { mode: 0o600 })

describe('ProcessTransport', () => {
  it('keeps the digits of numbers, and the order of keys, on the way there and back (G2)', async () => {
    const transport = transportOf({ command: 'cat' })
    const heard = new Promise<JSONRPCMessage>((resolve) => (transport.onmessage = resolve))
    await transport.start()
    const params = '{"n":[1.0,12345678901234567890],"2":{"b":0,"10":1,"1":2},"_meta":{"b":1,"progressToken":"t","1":2}}'
    await transport.send({ jsonrpc: '2.0', method: 'x', params: new JsonDocument(params).value as JsonObject })
    expect(stringifyJson(await heard)).toBe(`{"jsonrpc":"2.0","method":"x","params":${params}}`)
  })

  it.each(['[]', 'null', '[1]'])('treats parameters that MCP does not have as absent: %s', async (params) => {
    const transport = transportOf({ args: ['-c', `echo '{"jsonrpc":"2.0","id":1,"method":"x","params":${params}}'; cat`] })
    const heard = new Promise<JSONRPCMessage>((resolve) => (transport.onmessage = resolve))
    await transport.start()
    expect(await heard).toEqual({ jsonrpc: '2.0', id: 1, method: 'x' })
  })

  it('ends when a request is cancelled before it is completely written (X37)', async () => {
    const transport = transportOf({ args: ['-c', 'exec sleep 600'] })
    const closed = new Promise<void>((resolve) => (transport.onclose = resolve))
    await transport.start()
    const cancel = (requestId: number): Promise<void> => transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'small' })
    await cancel(1) // the pipe has accepted it
    const large = transport.send({ jsonrpc: '2.0', id: 2, method: 'large', params: { text: 'x'.repeat(1 << 20) } })
    await expect(cancel(2)).rejects.toThrow('the process does not read')
    await Promise.allSettled([large, closed])
    await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toThrow('the process has ended')
  })

  it('ignores empty lines (X12)', async () => {
    const transport = transportOf({ args: ['-c', `printf '\\n \\t\\r\\n{"jsonrpc":"2.0","method":"x"}\\n'; cat`] })
    const heard = new Promise<JSONRPCMessage>((resolve) => (transport.onmessage = resolve))
    const closed = new Promise<never>((_, reject) => (transport.onerror = reject))
    await transport.start()
    expect(await Promise.race([heard, closed])).toEqual({ jsonrpc: '2.0', method: 'x' })
  })

  it('ignores responses with unknown ids', async () => {
    const lines = ['"id":"3","result":{}', '"id":"3","error":{"code":1,"message":""}', '"error":{"code":1,"message":""}', '"id":"3","method":"x"', '"id":3,"result":{}']
    const transport = transportOf({ args: ['-c', `printf '{"jsonrpc":"2.0",%s}\\n' '${lines.join("' '")}'; cat`] })
    const heard: JSONRPCMessage[] = []
    const last = new Promise<void>((resolve) => {
      transport.onmessage = (message) => {
        heard.push(message)
        if (!('method' in message)) resolve()
      }
    })
    await transport.start()
    await last
    expect(heard).toEqual([{ jsonrpc: '2.0', id: '3', method: 'x' }, { jsonrpc: '2.0', id: 3, result: {} }])
  })

  it.each(['no JSON', '{"jsonrpc":"1.0"}', '[]', '{"jsonrpc":"2.0","id":1,"method":"x","params":"y"}'])('ends at a line that is not a message: %s (X12)', async (line) => {
    const transport = transportOf({ args: ['-c', `echo '${line}'; cat`] })
    const closed = new Promise<void>((resolve) => (transport.onclose = resolve))
    await transport.start()
    await closed
  })

  it('ignores everything after a violation of the protocol, even in the same chunk (X12)', async () => {
    const transport = transportOf({ args: ['-c', `printf 'no JSON\\n{"jsonrpc":"2.0","method":"x"}\\nno JSON\\n'; cat`] })
    const heard: unknown[] = []
    transport.onmessage = (message) => heard.push(message)
    const broken = new Promise<void>((resolve) => {
      transport.onerror = (error) => {
        heard.push(error.message)
        resolve()
      }
    })
    await transport.start()
    await broken
    await transport.close()
    expect(heard).toEqual(['a line is no JSON-RPC'])
  })

  it('accepts a message of the maximum length, and as many as are read', async () => {
    const transport = transportOf({ command: 'cat' })
    const text = 'x'.repeat(maxMessageBytes - '{"jsonrpc":"2.0","method":"x","params":{"text":""}}'.length)
    await transport.start()
    for (let i = 0; i < 3; i++) {
      const heard = new Promise<JSONRPCMessage>((resolve) => (transport.onmessage = resolve))
      await transport.send({ jsonrpc: '2.0', method: 'x', params: { text } })
      expect(await heard).toEqual({ jsonrpc: '2.0', method: 'x', params: { text } })
    }
  })

  it('ends when more than the maximum length of a message waits for a process that does not read', async () => {
    const transport = transportOf({ command: 'sleep', args: ['60'] })
    const closed = new Promise<void>((resolve) => (transport.onclose = resolve))
    await transport.start()
    const message: JSONRPCMessage = { jsonrpc: '2.0', method: 'x', params: { text: 'x'.repeat(maxMessageBytes / 16 - 100) } }
    const waiting = Promise.allSettled(Array.from({ length: 16 }, () => transport.send(message)))
    const first = await Promise.race([closed, waiting, new Promise((resolve) => setImmediate(resolve, 'still open'))])
    expect(first).toBe('still open')
    await expect(transport.send(message)).rejects.toThrow('the process does not read')
    await closed
    await waiting
    await expect(transport.send({ jsonrpc: '2.0', method: 'x' })).rejects.toThrow('the process has ended')
  })

  it('ends the calls of a server that stops reading (X5)', async () => {
    const hello = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}'
    const transport = transportOf({ args: ['-c', `read -r; echo '${hello}'; exec sleep 60`] })
    const connection = await McpConnection.open(transport, { timeoutSeconds: 60, clientVersion: '1', origin: undefined })
    const { signal } = new AbortController()
    const calls = Array.from({ length: 4 }, () => connection.call('t', { text: 'x'.repeat(5_000_000) }, silentListener, signal))
    const error = '-32603: Connection closed'
    expect(await Promise.all(calls)).toEqual(Array(4).fill({ status: 'error', error }))
    expect(await connection.call('t', {}, silentListener, signal)).toEqual({ status: 'error', error })
    await connection.close()
  })

  it('ends with its process, even if another process still has its output open', async () => {
    const started = join(directory, 'started')
    const leaver = `setsid bash -c 'echo $$ >${started}; exec sleep 600' & until [ -s ${started} ]; do :; done`
    const transport = transportOf({ args: ['-c', leaver] })
    const closed = new Promise<void>((resolve) => (transport.onclose = resolve))
    await transport.start()
    await closed
    process.kill(Number(readFileSync(started, 'utf8')))
  })

  it('gives a process the name of its command, and looks it up in the path of the server (X10)', async () => {
    const transport = transportOf({ args: ['-c', `echo "{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"$0\\"}"; cat`], environment: { PATH: '/nonexistent' } })
    const heard = new Promise<JSONRPCMessage>((resolve) => (transport.onmessage = resolve))
    const closed = new Promise<void>((resolve) => (transport.onclose = resolve))
    await transport.start()
    expect(await heard).toEqual({ jsonrpc: '2.0', method: 'bash' })
    await closed // that path has no `cat`
  })

  it.each([
    ['', {}, 'Command not found: '],
    ['no-such-command', {}, 'Command not found: no-such-command'],
    ['./plain', { directory }, 'Command not found: ./plain'],
    ['plain', { searchPath: directory }, 'Command not found: plain'],
    ['./plain/x', { directory }, 'Command not found: ./plain/x'],
    ['/', {}, 'Command not found: /'],
    ['bash', { args: ['a\0b'] }, 'Command cannot be started: bash'],
    ['bash', { directory: '/nonexistent' }, 'Directory not found: /nonexistent'],
    ['bash', { directory: '/etc/passwd' }, 'Directory not found: /etc/passwd'],
    ['bash', { directory: '/etc/passwd/x' }, 'Directory not found: /etc/passwd/x'],
    ['no-such-command', { directory: '/nonexistent' }, 'Command not found: no-such-command'],
  ])('reports why %j cannot be started', async (command, options, reason) => {
    await expect(transportOf({ command, ...options }).start()).rejects.toThrow(new ExtensionError(reason))
  })
})
