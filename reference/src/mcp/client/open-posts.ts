/** A message to a server over HTTP, until the connection of its response is closed. */
export interface Post {
  /** The text that the SDK has written. */
  readonly text: string
  /** The id of the message if it is a request. */
  readonly id: number | undefined
  /** Whether it is the first message of the connection. */
  readonly isFirst: boolean
  readonly over: AbortController
  /** Whether its caller no longer waits for the response. */
  isCancelled: boolean
}

/** The connections of messages, one for each message. */
export class OpenPosts {
  readonly #open = new Set<Post>()

  /** Registers a message. Throws the reason of the signal if the signal is aborted. */
  open(text: string, signal: AbortSignal | null | undefined): Post {
    signal?.throwIfAborted()
    const { id, method } = JSON.parse(text) as { id?: unknown; method?: unknown } // the SDK has written it
    const isRequest = typeof id === 'number' && method !== undefined
    const post = { text, id: isRequest ? id : undefined, isFirst: method === 'initialize', over: new AbortController(), isCancelled: false }
    this.#open.add(post)
    return post
  }

  closed(post: Post): void {
    this.#open.delete(post)
  }

  /** Closes the connection of a cancelled request. */
  cancel(id: number): void {
    for (const post of this.#open) {
      if (post.id !== id) continue
      post.isCancelled = true
      post.over.abort(new Error('nobody waits for the answer'))
    }
  }

  abort(text: string): void {
    for (const post of this.#open) if (post.text === text) post.over.abort(new Error('the answer takes too long'))
  }

  abortAll(): void {
    for (const { over } of this.#open) over.abort(new Error('the connection is closed'))
  }
}
