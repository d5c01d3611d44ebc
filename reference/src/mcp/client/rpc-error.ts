/** An error of the protocol. The SDK sends its code and message. The SDK's own class would repeat the code in the message. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
