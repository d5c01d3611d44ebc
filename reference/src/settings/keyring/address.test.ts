import { expect, it } from 'vitest'
import { busAddresses } from './address.ts'

it.each([
  ['unix:path=/a', [['unix', { path: '/a' }]]],
  ['unix:abstract=%2ftmp%2Fb%3b,guid=0;unixexec:path=x,argv1=a=b', [['unix', { abstract: '/tmp/b;', guid: '0' }], ['unixexec', { path: 'x', argv1: 'a=b' }]]],
  ['autolaunch:', [['autolaunch', {}]]],
  ['unix:path=%2,;unix:path=%ff;unix:path;unix;:path=/a;', []],
])('the entries of the address %s are read as in the specification of D-Bus (G53)', (text, entries) => {
  expect(busAddresses(text).map(({ transport, parameters }) => [transport, Object.fromEntries(parameters)])).toEqual(entries)
})
