import { createRequire } from 'node:module'
import type { ToolManager } from '@lockstep/client-tools'

const maxRows = 200

/** What this example uses of a connection. */
export interface Connection {
  prepare: (sql: string) => { iterate: () => Iterable<object> }
  close: () => void
}

/** Opens a database with Node's own SQLite. */
export function openReadOnly(file: string): Connection {
  const { sqlite } = loadSqlite()
  return new sqlite.DatabaseSync(file, { readOnly: true })
}

/** Offers queries on a read-only connection. */
export function offerQuery(tools: ToolManager, connection: Connection): Promise<void> {
  return tools.register(
    'query',
    {
      description: 'Runs one SELECT on the database (SQLite). Returns a line of JSON for each row.',
      parameters: { type: 'object', properties: { sql: { type: 'string' } }, required: ['sql'] },
    },
    ({ sql }) => {
      // A read-only connection can still attach other databases of this machine.
      if (!/^\s*(select|with|values)\b/i.test(sql)) throw new Error('Only SELECT, WITH and VALUES may run')
      const rows: string[] = []
      for (const row of connection.prepare(sql).iterate()) {
        if (rows.length === maxRows) throw new Error(`More than ${maxRows} rows: add a LIMIT`)
        rows.push(JSON.stringify(row))
      }
      return { title: `${rows.length} rows`, output: rows.join('\n'), metadata: { rowCount: rows.length } }
    },
  )
}

interface Sqlite {
  DatabaseSync: new (file: string, options: { readOnly: boolean }) => Connection
}

function loadSqlite(): { sqlite: Sqlite } {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  // Node has SQLite since 22.5, but ignores `readOnly` before 22.13.
  if (major < 22 || (major === 22 && minor < 13)) {
    throw new Error(`node:sqlite is missing in Node ${process.versions.node}: use Node 22.13 or later, or pass another connection`)
  }
  return { sqlite: createRequire(import.meta.url)('node:sqlite') as Sqlite } // the types of Node 20 do not have it
}
