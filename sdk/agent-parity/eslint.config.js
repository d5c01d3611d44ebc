export { default } from '../ts/eslint.config.js'
