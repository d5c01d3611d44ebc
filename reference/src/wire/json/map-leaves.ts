import { isObject } from './is-object.ts'
import { ObjectBuilder } from './ordered.ts'

/**
 * A copy of a value in which `change` replaces every leaf and `changeKey` every key. If several keys become equal, the last value
 * counts. It has its own stack, because values may have thousands of levels (S27).
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
    // All keys must be known first: only then is it certain which object keeps their order.
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
