import { open, realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { ToolManager } from '@lockstep/client-tools'

const maxBytes = 256 * 1024

/** Offers the text files below one folder. */
export function offerReadFile(tools: ToolManager, root: string): Promise<void> {
  return tools.register(
    'read-file',
    {
      description: 'Reads a text file of the project.',
      parameters: {
        type: 'object',
        properties: { path: { type: 'string', description: 'The path from the root of the project' } },
        required: ['path'],
      },
    },
    async ({ path }) => {
      // The file that would be read, behind all links, must be below the folder.
      const [top, real] = [await realpath(root), await realpath(resolve(root, path))]
      const below = relative(top, real)
      if (below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)) throw new Error(`${path} is outside of the project`)
      const output = await readText(real)
      return { title: below, output, metadata: { bytes: Buffer.byteLength(output) } }
    },
  )
}

async function readText(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    if (size > maxBytes) throw new Error(`The file has ${size} bytes, more than ${maxBytes}`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
