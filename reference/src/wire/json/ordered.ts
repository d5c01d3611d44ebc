/*
 * Objects whose keys stay in the order in which they came (G2). JavaScript has keys that look like array indexes (`0`, `7`,
 * `10`) before all others, and the lowest first. Where that changes the order, the object is a Proxy with the right
 * one: whatever goes through its members, JSON.stringify included, has them in order. A copy by `...` or Object.fromEntries
 * has not; `objectOf` and `withMember` make copies.
 */

type Members = Record<string, unknown>

/** An object that gets one member after the other. */
export class ObjectBuilder {
  #object: Members = {}
  /** Whether nothing is left to do about the order. */
  #isOrdered: boolean
  /** The last index, while there are nothing but indexes that rise; from then on Infinity. */
  #last = -1

  /** Without `keepsOrder` the keys are where JavaScript has them. */
  constructor(keepsOrder = true) {
    this.#isOrdered = !keepsOrder
  }

  /** With all members so far. Once all are there, it is the same for good. */
  get object(): Members {
    return this.#object
  }

  /** Puts a member behind the others; one that is there keeps its place. Returns whether it was there. */
  set(key: string, value: unknown): boolean {
    const isThere = Object.hasOwn(this.#object, key)
    if (!isThere && !this.#isOrdered) this.#look(key)
    // A plain assignment would call the setter of `__proto__`.
    if (key === '__proto__') Object.defineProperty(this.#object, key, { value, writable: true, enumerable: true, configurable: true })
    else this.#object[key] = value
    return isThere
  }

  /** Whether JavaScript would put a new key before others. */
  #look(key: string): void {
    const index = indexOf(key)
    if (index < this.#last) {
      this.#object = new Proxy(this.#object, new KeyOrder(Object.keys(this.#object)))
      this.#isOrdered = true
    }
    this.#last = Math.max(this.#last, index)
  }
}

/** An object with these members, in this order. */
export function objectOf(members: Iterable<readonly [key: string, value: unknown]>): Members {
  const builder = new ObjectBuilder()
  for (const [key, value] of members) builder.set(key, value)
  return builder.object
}

/** A copy with one more member, which comes last unless it is there. */
export function withMember(object: object, key: string, value: unknown): Members {
  return objectOf([...Object.entries(object), [key, value]])
}

class KeyOrder implements ProxyHandler<Members> {
  readonly #keys: Set<string | symbol>

  constructor(keys: readonly string[]) {
    this.#keys = new Set(keys)
  }

  ownKeys(): (string | symbol)[] {
    return [...this.#keys]
  }

  /** Assignments come here, too. */
  defineProperty(target: Members, key: string | symbol, descriptor: PropertyDescriptor): boolean {
    const isDefined = Reflect.defineProperty(target, key, descriptor)
    if (isDefined) this.#keys.add(key)
    return isDefined
  }

  deleteProperty(target: Members, key: string | symbol): boolean {
    const isDeleted = Reflect.deleteProperty(target, key)
    if (isDeleted) this.#keys.delete(key)
    return isDeleted
  }
}

/** The array index that a key is (ECMA-262 §6.1.7); Infinity for any other key. */
function indexOf(key: string): number {
  if (!/^(?:0|[1-9]\d{0,9})$/.test(key)) return Infinity
  const index = Number(key)
  return index < 2 ** 32 - 1 ? index : Infinity
}
