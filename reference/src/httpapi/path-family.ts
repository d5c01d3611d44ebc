/** The roots of the client-tools family. All other paths follow the rules of the goose server (S20). */
const clientToolsRoots = ['/client-tools', '/event', '/global/event']

const permission = /^\/session\/[^/]+\/permissions\/[^/]+$/

/** Whether a path belongs to the client-tools family. The path is in the form that the router uses. */
export function isClientToolsPath(path: string): boolean {
  return clientToolsRoots.some((root) => path === root || path.startsWith(root + '/')) || permission.test(path)
}
