import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { temporaryFolder } from '../../../../test/support/test-run.ts';
import { resolveStartFolder } from './start-folder.ts';

function folders(): { readonly cwd: string; readonly elsewhere: string } {
  const [cwd, elsewhere] = [temporaryFolder('here'), temporaryFolder('elsewhere')];
  for (const name of ['srv', 'notes', 'some-package', '@scope/pkg', 'mcp/fetch'])
    mkdirSync(join(cwd, name), { recursive: true });
  for (const [folder, name] of [
    [cwd, 'srv/ok.mjs'],
    [cwd, 'conf.json'],
    [elsewhere, 'only-there.sh'],
  ] as const)
    writeFileSync(join(folder, name), '');
  return { cwd, elsewhere };
}

const { cwd, elsewhere } = folders();
const where = { cwd, file: join(elsewhere, 'config.jsonc'), platform: 'linux' } as const;

test.each([
  ['node srv/ok.mjs', 'srv/ok.mjs'],
  ['./srv/ok.mjs', './srv/ok.mjs'],
  ['srv/not-built-yet --flag', 'srv/not-built-yet'],
  ['node .', '.'],
  ['x --config conf.json', 'conf.json'],
  ['x --config=conf.json', '--config=conf.json'],
  ['npx -y some-package notes', 'notes'],
  ['npx -y ./some-package', './some-package'],
  ['/usr/bin/npx -y @scope/pkg .', '.'],
  ['uv --directory srv run x', 'srv'],
  ['bun run srv/ok.mjs', 'srv/ok.mjs'],
  ['docker run --env-file ./conf.json mcp/fetch', './conf.json'],
])('working folder: is recorded for %s', (line, word) => {
  expect(resolveStartFolder(line.split(' '), where)).toEqual({ cwd, word });
});

test.each([
  'npx -y some-package',
  'npx -y @scope/pkg --flag',
  'npx.cmd --package some-package some-package',
  'uvx --from some-package notes',
  'npm exec -- some-package',
  'pnpm dlx some-package',
  'uv tool run some-package',
  'docker run -i --rm mcp/fetch',
  'node /srv/ok.mjs',
  'srv',
  'x no-such-file https://srv.example/ok ${env:srv} ~/srv --srv',
  './only-there.sh',
])('working folder: is not recorded for %s', (line) => {
  expect(resolveStartFolder(line.split(' '), where)).toBeUndefined();
});

test('working folder: is relative to a project configuration', () => {
  const file = join(cwd, 'trunkline.jsonc');
  expect(resolveStartFolder(['node', 'srv/ok.mjs'], { ...where, file })).toEqual({
    cwd: '.',
    word: 'srv/ok.mjs',
  });
});

test('working folder: escapes a name that looks like a reference', () => {
  const odd = join(cwd, '${env:A}');
  mkdirSync(odd);
  expect(resolveStartFolder(['./x'], { ...where, cwd: odd })?.cwd).toBe(join(cwd, '$${env:A}'));
});
