import type { SessionHandle } from '../store/session-handle.ts'
import { SessionStore } from '../store/session-store.ts'
import { temporaryRoot } from './temporary-root.ts'
import { recordingLogger } from './test-app.ts'

/** A session, and a function that deletes it. */
export async function someSession(): Promise<{ session: SessionHandle; remove: () => void }> {
  const store = new SessionStore(temporaryRoot(), recordingLogger().logger)
  await store.open()
  const { id } = await store.create({ working_dir: '/w', name: 'n', session_type: 'user' })
  return { session: store.handle(id), remove: () => store.delete(id) }
}
