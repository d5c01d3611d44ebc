/** The roots of the client-tools family; all other paths follow the rules of the goose server (S20). */
const clientToolsRoots = ['/client-tools', '/event', '/global/event']

/** Whether a path, in the form that is routed, belongs to the client-tools family. */
export function isClientToolsPath(path: string): boolean {
  return clientToolsRoots.some((root) => path === root || path.startsWith(root + '/'))
}
