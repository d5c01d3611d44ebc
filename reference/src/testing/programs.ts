import { join } from 'node:path'
import { inject } from 'vitest'

/** The command that starts this server as a process, without its arguments. */
export const serverCommand = [process.execPath, join(inject('programs'), 'main.js')]

/** The command of the scripted MCP server, as the settings of an extension have it. */
export const mcpServer = { cmd: process.execPath, args: [join(inject('programs'), 'mcp-stdio.js')] }
