import { isObject } from './is-object.ts'
import { ObjectBuilder } from './ordered.ts'

/**
 * A copy of a value in which every leaf is what `change` makes of it, and every key what `changeKey` makes of it; of keys that
 * become one the last value counts. It walks with a stack of its own, because values may be thousands of levels deep (S27).
 */
export function mapLeaves(value: unknown, change: (leaf: unknown) => unknown, changeKey: (key: string) => string = (key) => key): unknown {
  const open: (() => void)[] = []
  const copy = (one: unknown): unknown => {
    if (Array.isArray(one)) {
      const elements: unknown[] = []
      open.push(() => {
        for (const element of one as unknown[]) elements.push(copy(element))
      })
      return elements
    }
    if (!isObject(one)) return change(one)
    // All keys come first: only then is it certain which object will keep their order.
    const members = Object.entries(one).map(([key, member]): [string, unknown] => [changeKey(key), member])
    const builder = new ObjectBuilder()
    for (const [key] of members) builder.set(key, undefined)
    open.push(() => {
      for (const [key, member] of members) builder.set(key, copy(member))
    })
    return builder.object
  }
  const copied = copy(value)
  for (let fill = open.pop(); fill !== undefined; fill = open.pop()) fill()
  return copied
}
