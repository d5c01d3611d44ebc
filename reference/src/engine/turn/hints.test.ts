import { temporaryRoot } from '../../testing/temporary-root.ts'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rootPaths } from '../../settings/paths.ts'
import { Settings } from '../../settings/settings.ts'
import { hints } from './hints.ts'

/** The hints for `work/sub`, given these files and links. */
function hintsWith(files: Record<string, string>, links: Record<string, string> = {}, names?: string): string {
  const root = temporaryRoot()
  mkdirSync(join(root, 'work/sub'), { recursive: true })
  const prepared = (path: string): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    return join(root, path)
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(prepared(path), text)
  for (const [path, target] of Object.entries(links)) symlinkSync(target, prepared(path))
  return hints(new Settings(rootPaths(root), { CONTEXT_FILE_NAMES: names }), join(root, 'work/sub'))
}

const git = { 'work/.git': '' }

describe('hints (M71, M72)', () => {
  it.each<[what: string, files: Record<string, string>, links: Record<string, string>, found: string]>([
    ['none', {}, {}, ''],
    ['those of the directory alone without a repository', { 'work/AGENTS.md': 'no', 'work/sub/AGENTS.md': ' yes\n' }, {}, '### Project Hints\nyes'],
    ['from the root of the repository down', { ...git, 'AGENTS.md': 'no', 'work/AGENTS.md': 'a', 'work/sub/.goosehints': 'b' }, {}, '### Project Hints\na\nb'],
    ['no blank ones', { 'work/sub/AGENTS.md': ' \n', 'config/AGENTS.md': 'g' }, {}, '### Global Hints\ng'],
    ['no large ones', { 'work/sub/AGENTS.md': 'x'.repeat((1 << 20) + 1) }, {}, ''],
    ['no links out of the project', { 'x.md': 'x' }, { 'work/sub/AGENTS.md': '../../x.md' }, ''],
    ['links of the user', { 'x.md': 'x' }, { 'config/AGENTS.md': '../x.md' }, '### Global Hints\nx'],
    ['no includes through links out', { 'work/sub/AGENTS.md': '@l.md', 'x.md': 'x' }, { 'work/sub/l.md': '../../x.md' }, '### Project Hints\n@l.md'],
    ['includes up to the third', { 'work/sub/AGENTS.md': '@1', 'work/sub/1': '@2', 'work/sub/2': '@3', 'work/sub/3': '@4', 'work/sub/4': 'no' }, {},
      '### Project Hints\n--- Content from 1 ---\n--- Content from 2 ---\n--- Content from 3 ---\n@4\n--- End of 3 ---\n--- End of 2 ---\n--- End of 1 ---'],
  ])('are %s', (_, files, links, found) => {
    expect(hintsWith(files, links)).toBe(found)
  })

  it('come from the files that the setting names', () => {
    expect(hintsWith({ 'work/sub/a': 'A', 'work/sub/b': 'B', 'work/sub/AGENTS.md': 'no' }, {}, '["b","a","b"]')).toBe('### Project Hints\nB\nA')
  })
})
