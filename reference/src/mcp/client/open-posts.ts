/** A message to a server over HTTP, until the connection of its answer is closed. */
export interface Post {
  /** As the SDK has written it. */
  readonly text: string
  /** The id of the message if it is a request. */
  readonly id: number | undefined
  readonly over: AbortController
  /** Its caller no longer waits for the answer. */
  isCancelled: boolean
}

/** The connections on which messages are sent, one for each. */
export class OpenPosts {
  readonly #open = new Set<Post>()

  /** Throws the reason of the signal if it is aborted. */
  open(text: string, signal: AbortSignal | null | undefined): Post {
    signal?.throwIfAborted()
    const { id, method } = JSON.parse(text) as { id?: unknown; method?: unknown } // the SDK has made it
    const isRequest = typeof id === 'number' && method !== undefined
    const post = { text, id: isRequest ? id : undefined, over: new AbortController(), isCancelled: false }
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
