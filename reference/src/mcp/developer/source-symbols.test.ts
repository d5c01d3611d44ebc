import { describe, expect, it } from 'vitest'
import { readSource } from './source-symbols.ts'

describe('what lines declare (X43)', () => {
  it.each<[path: string, line: string, declared: string]>([
    ['a.py', '  async def f(x):', 'function f'],
    ['a.py', 'class C:', 'class C'],
    ['a.rs', 'pub(crate) async fn f() {', 'function f'],
    ['a.rs', 'pub enum E {', 'class E'],
    ['a.ts', 'export const f = async (x) => {', 'function f'],
    ['a.js', 'export default class C {', 'class C'],
    ['a.go', 'func (s *T) f(x int) {', 'function f'],
    ['a.go', 'type T[K any] struct {', 'class T'],
    ['a.java', '  private static List<String> f(int x) {', 'function f'],
    ['a.kt', 'data class C(val x: Int)', 'class C'],
    ['a.swift', 'public func f() {', 'function f'],
    ['a.rb', '  def self.f', 'function f'],
    ['a.txt', 'def f(x):', ''],
    ['a.py', '# defines f', ''],
  ])('%s: %s', (path, line, declared) => {
    expect(readSource(path, line).declarations.map(({ kind, name }) => `${kind} ${name}`).join()).toBe(declared)
  })
})
