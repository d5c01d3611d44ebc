/**
 * Runs a function for each item, at most `limit` at the same time. Returns the results in the order of the items. After a
 * failure, no more runs start.
 */
export async function mapConcurrently<T, R>(limit: number, items: readonly T[], run: (item: T, index: number) => Promise<R>): Promise<R[]> {
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
