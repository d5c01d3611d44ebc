import { inTime } from '../../in-time.ts'
import { ask, requestMs, type HttpAnswer } from './http-answer.ts'
import { SignInError } from './sign-in-error.ts'
import { allowedUrl } from './url.ts'

/** How long the whole discovery may take. */
const discoveryMs = 60_000
const maxRedirects = 5
const redirects: readonly number[] = [301, 302, 303, 307, 308]
/** How many servers of the list of a resource are tried. */
const maxServers = 5
const headers = { 'MCP-Protocol-Version': '2024-11-05', Accept: 'application/json' }

/** What an authorization server says about itself. */
export interface Metadata {
  /** As the server writes it. */
  authorizationEndpoint: string
  tokenEndpoint: string
  registrationEndpoint: URL | undefined
}

/** An answer to a GET, and the URL that gave it after all redirects. */
interface Document {
  url: URL
  answer: HttpAnswer
}

/**
 * Finds the metadata of the authorization server of an extension (GA 31.2). Rejects with a SignInError if there are none, or with the
 * reason of the signal.
 */
export async function discover(uri: URL, signal: AbortSignal, get: typeof getOnce = getOnce): Promise<Metadata> {
  const own = new URL(uri)
  own.username = own.password = '' // Node would send them
  const search = new Discovery(own, get)
  const found = await inTime(discoveryMs, signal, (limited) => search.run(limited)).catch((error: unknown) => {
    signal.throwIfAborted()
    throw new SignInError('no authorization server found', error)
  })
  if (found === undefined) throw new SignInError('no authorization server found')
  return found
}

/** A GET that follows no redirect. */
function getOnce(url: URL, signal: AbortSignal): Promise<HttpAnswer> {
  return ask(url, { method: 'GET', headers, body: null }, (status) => status === 200, signal)
}

class Discovery {
  readonly #uri: URL
  readonly #get: typeof getOnce

  constructor(uri: URL, get: typeof getOnce) {
    this.#uri = uri
    this.#get = get
  }

  /** Sends one request after the other, until one has what is needed. Rejects when the signal is aborted. */
  async run(signal: AbortSignal): Promise<Metadata | undefined> {
    return (
      (await this.#metadataAt(forms(this.#uri, 'oauth-authorization-server'), signal)) ??
      (await this.#fromResource(await this.#ownResource(signal), signal)) ??
      (await this.#fromResources(forms(this.#uri, 'oauth-protected-resource'), signal))
    )
  }

  /** The first metadata at these URLs. */
  async #metadataAt(urls: readonly URL[], signal: AbortSignal): Promise<Metadata | undefined> {
    for (const url of urls) {
      const metadata = this.#metadataIn((await this.#document(url, signal))?.answer.object)
      if (metadata !== undefined) return metadata
    }
    return undefined
  }

  #metadataIn(object: HttpAnswer['object']): Metadata | undefined {
    const { authorization_endpoint: authorization, token_endpoint: token, registration_endpoint: registration } = object ?? {}
    if (allowedUrl(authorization, this.#uri) === undefined || allowedUrl(token, this.#uri) === undefined) return undefined
    return {
      authorizationEndpoint: authorization as string, // only texts are allowed URLs
      tokenEndpoint: token as string,
      registrationEndpoint: allowedUrl(registration, this.#uri),
    }
  }

  /** The resource metadata that the extension itself gives, or refers to. */
  async #ownResource(signal: AbortSignal): Promise<HttpAnswer['object']> {
    const own = await this.#document(this.#uri, signal)
    if (own?.answer.status !== 401) return own?.answer.object
    // Several fields are joined by Node.
    const [, reference] = /resource_metadata="([^"]*)"/i.exec(own.answer.headers['www-authenticate'] ?? '') ?? []
    if (reference === undefined || !URL.canParse(reference, own.url.href)) return undefined
    const url = allowedUrl(new URL(reference, own.url).href, this.#uri)
    return url && (await this.#document(url, signal))?.answer.object
  }

  async #fromResources(urls: readonly URL[], signal: AbortSignal): Promise<Metadata | undefined> {
    for (const url of urls) {
      const metadata = await this.#fromResource((await this.#document(url, signal))?.answer.object, signal)
      if (metadata !== undefined) return metadata
    }
    return undefined
  }

  /** The metadata of the first usable authorization server of a resource. */
  async #fromResource(resource: HttpAnswer['object'], signal: AbortSignal): Promise<Metadata | undefined> {
    const { authorization_server: one, authorization_servers: list } = resource ?? {}
    const listed: unknown[] = Array.isArray(list) ? list.slice(0, maxServers) : []
    for (const server of [one, ...listed]) {
      const url = allowedUrl(server, this.#uri)
      if (url === undefined) continue
      const metadata = await this.#metadataAt(url.href.includes('/.well-known/') ? [url] : forms(url, 'oauth-authorization-server'), signal)
      if (metadata !== undefined) return metadata
    }
    return undefined
  }

  /** The answer of a URL, after redirects; undefined if there is none. Rejects when the signal is aborted. */
  async #document(from: URL, signal: AbortSignal): Promise<Document | undefined> {
    try {
      return await inTime(requestMs, signal, async (limited) => {
        let url = from
        for (let followed = 0; ; followed++) {
          const answer = await this.#get(url, limited)
          if (!redirects.includes(answer.status)) return { url, answer }
          const { location } = answer.headers
          const next = location !== undefined && URL.canParse(location, url.href) ? allowedUrl(new URL(location, url).href, this.#uri) : undefined
          if (next === undefined || followed === maxRedirects) return undefined
          url = next
        }
      })
    } catch {
      signal.throwIfAborted()
      return undefined
    }
  }
}

/** The places of a well-known document of a server: its path before, after and without the name of the document. */
function forms({ origin, pathname }: URL, name: string): URL[] {
  const wellKnown = `/.well-known/${name}`
  const path = pathname.replace(/^\/+|\/+$/g, '')
  const paths = path === '' ? [wellKnown] : [`${wellKnown}/${path}`, `/${path}${wellKnown}`, wellKnown]
  return paths.map((one) => new URL(`${origin}${one}`))
}
