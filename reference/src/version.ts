/** The version of goose that this server behaves like. */
export const version = '1.16.0'
