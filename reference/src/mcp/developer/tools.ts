import type { Tool } from '@modelcontextprotocol/sdk/types.js'

const text = (description: string): object => ({ type: 'string', description })
const integer = (description: string): object => ({ type: 'integer', description })

/** The tools of the bundled extension `developer`. Their texts are in docs/behaviour/goose-api.md. */
export const tools: Tool[] = [
  {
    name: 'analyze',
    description: 'Shows the functions and classes of source files, and who calls them.',
    inputSchema: {
      type: 'object',
      properties: {
        path: text('The file or directory'),
        focus: text('The symbol whose definitions and calls are shown'),
        follow_depth: integer('How far calls are followed: 2'),
        max_depth: integer('How deep directories are read: 3, 0 for no limit'),
        ast_recursion_limit: integer('Without effect'),
        force: { type: 'boolean', description: 'Shows more than 1000 lines' },
      },
      required: ['path'],
    },
  },
  {
    name: 'image_processor',
    description: 'Reads an image file and makes it small enough to look at.',
    inputSchema: { type: 'object', properties: { path: text('The path of the image') }, required: ['path'] },
  },
  { name: 'list_windows', description: 'Lists the windows of the desktop.', inputSchema: { type: 'object', properties: {} } },
  {
    name: 'screen_capture',
    description: 'Captures a display or a window of the desktop.',
    inputSchema: {
      type: 'object',
      properties: { display: integer('The number of the display'), window_title: text('The title of the window') },
    },
  },
  {
    name: 'shell',
    description: 'Runs a command in a shell and returns what it prints.',
    inputSchema: { type: 'object', properties: { command: text('The command') }, required: ['command'] },
  },
  {
    name: 'text_editor',
    description: 'Views, writes and changes text files.',
    inputSchema: {
      type: 'object',
      properties: {
        path: text('The path of the file or directory'),
        command: text('view, write, str_replace, insert or undo_edit'),
        diff: text('str_replace: a unified diff, instead of old_str and new_str'),
        view_range: { type: 'array', items: { type: 'integer' }, description: 'view: the first and the last line, -1 for the end' },
        file_text: text('write: the new content'),
        old_str: text('str_replace: the text that goes'),
        new_str: text('str_replace, insert: the text that comes'),
        insert_line: integer('insert: the line behind which the text comes, 0 for the beginning, -1 for the end'),
      },
      required: ['path', 'command'],
    },
  },
]
