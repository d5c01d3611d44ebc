import { Connection, type ConnectionOptions } from './connection.ts'
import { type FromSchema, type JsonSchema, type StandardSchema, validate } from './schema.ts'
import type { Tool, ToolDescription, ToolHandler } from './tool.ts'

/** The tools of one client, and its connection (CT 11.2 to 11.5). */
export class ToolManager {
  readonly clientID: string
  readonly #options: ConnectionOptions
  readonly #tools = new Map<string, Tool>()
  #connection: Connection | undefined

  constructor(options: ConnectionOptions) {
    this.clientID = options.clientID
    this.#options = options
  }

  /**
   * Offers a tool, or replaces it. `parameters` or the validator gives the handler's input its type. While connected, this
   * resolves when the server knows the tool; if the server refuses it, this rejects, and the tool stays in the manager.
   */
  register<Input>(
    id: string, tool: ToolDescription & { validator: StandardSchema<Input> }, handler: ToolHandler<Input>,
  ): Promise<void>
  register<const Schema extends JsonSchema>(
    id: string, tool: ToolDescription & { parameters: Schema; validator?: undefined }, handler: ToolHandler<FromSchema<Schema>>,
  ): Promise<void>
  async register(id: string, { description, parameters, validator }: ToolDescription, handler: ToolHandler<never>): Promise<void> {
    this.#tools.set(id, {
      definition: { id, description, parameters },
      run: async (input, context) => {
        // The overloads say what the handler takes; without a validator, the server has checked the input.
        const valid = (validator ? await validate(validator, input) : input) as never
        return handler(valid, context)
      },
    })
    await this.#connection?.register()
  }

  /** Removes a tool; while connected, also from the server. */
  async unregister(id: string): Promise<void> {
    this.#tools.delete(id)
    await this.#connection?.unregister(id)
  }

  /**
   * Registers the tools and opens the stream of requests. Later losses of the stream are repaired in the background, and
   * reported to `onReconnect`. Aborting the signal before this resolves disconnects.
   */
  async connect({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    signal?.throwIfAborted()
    const connection = this.#connection ??= new Connection(this.#tools, this.#options, () => {
      this.#connection = undefined
    })
    const abort = (): void => void this.#end(connection, signal?.reason)
    signal?.addEventListener('abort', abort)
    try {
      await connection.connected
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Closes the stream and cancels the handlers. Their results are not sent. */
  async disconnect(): Promise<void> {
    if (this.#connection) await this.#end(this.#connection)
  }

  async #end(connection: Connection, reason?: unknown): Promise<void> {
    if (this.#connection === connection) this.#connection = undefined
    await connection.close(reason)
  }
}
