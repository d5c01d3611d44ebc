import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { scriptedMcpServer } from './mcp-server.ts'

await scriptedMcpServer().connect(new StdioServerTransport())
