/** The version of goose whose behaviour this server implements. */
export const version = '1.16.0'
