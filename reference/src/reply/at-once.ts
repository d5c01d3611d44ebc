/** Runs something for each item, for so many at once, and returns what came of them in their order. After a failure it begins no more. */
export async function atOnce<T, R>(limit: number, items: readonly T[], run: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const rest = items.entries()
  let failed = false
  const work = async (): Promise<void> => {
    for (const [index, item] of rest) {
      if (failed) return
      try {
        results[index] = await run(item, index)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  return results
}
