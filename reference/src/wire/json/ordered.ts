/*
 * Objects that keep the order of their keys (G2). JavaScript puts keys that look like array indexes (`0`, `7`, `10`) before all
 * others, the lowest first. If that changes the order, the object is a Proxy with the right order. Code that iterates over its
 * members, such as JSON.stringify, sees that order. A copy by `...` or Object.fromEntries loses it; `objectOf` and `withMember`
 * make copies that keep it.
 */

type Members = Record<string, unknown>

/** Builds an object, one member at a time. */
export class ObjectBuilder {
  #object: Members = {}
  /** True once keys need no more checks: their order does not matter, or the object is already a Proxy. */
  #isOrdered: boolean
  /** The last index, while all keys so far are rising indexes; after that, Infinity. */
  #last = -1

  /** Without `keepsOrder`, keys are in JavaScript's order. */
  constructor(keepsOrder = true) {
    this.#isOrdered = !keepsOrder
  }

  /** The object with all members so far. Adding a member may replace it. */
  get object(): Members {
    return this.#object
  }

  /** Adds a member at the end; an existing one keeps its position, and its value is returned. */
  set(key: string, value: unknown): { replaced: unknown } | undefined {
    const replaced = Object.hasOwn(this.#object, key) ? { replaced: this.#object[key] } : undefined
    if (replaced === undefined && !this.#isOrdered) this.#look(key)
    // A plain assignment would call the setter of `__proto__`.
    if (key === '__proto__') Object.defineProperty(this.#object, key, { value, writable: true, enumerable: true, configurable: true })
    else this.#object[key] = value
    return replaced
  }

  /** Checks whether JavaScript would move a new key before others. */
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

/** A copy with one more member. It comes last, unless the key already exists. */
export function withMember(object: object, key: string, value: unknown): Members {
  return objectOf([...Object.entries(object), [key, value]])
}

/** A copy without a member. */
export function withoutMember(object: object, key: string): Members {
  return objectOf(Object.entries(object).filter(([one]) => one !== key))
}

class KeyOrder implements ProxyHandler<Members> {
  readonly #keys: Set<string | symbol>

  constructor(keys: readonly string[]) {
    this.#keys = new Set(keys)
  }

  ownKeys(): (string | symbol)[] {
    return [...this.#keys]
  }

  /** Assignments call this too. */
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

/** The array index that a key represents (ECMA-262 §6.1.7); Infinity for any other key. */
function indexOf(key: string): number {
  if (!/^(?:0|[1-9]\d{0,9})$/.test(key)) return Infinity
  const index = Number(key)
  return index < 2 ** 32 - 1 ? index : Infinity
}
