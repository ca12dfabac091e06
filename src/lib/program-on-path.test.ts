import { expect, test } from 'vitest';

import { programOnPath } from './program-on-path.ts';

const having =
  (...files: string[]) =>
  (file: string) =>
    files.includes(file);

test('the first folder of the path wins', () => {
  const env = { PATH: '/nowhere::/usr/local/bin:/usr/bin' };
  const where = { env, platform: 'linux' as const, cwd: '/project' };
  expect(programOnPath('node', { ...where, isProgram: having('/usr/bin/node', '/usr/local/bin/node') })).toBe(
    '/usr/local/bin/node',
  );
  expect(programOnPath('node', { ...where, isProgram: having() })).toBeUndefined();
});

test('a path is taken from the folder of the server, and not looked for', () => {
  const where = { env: { PATH: '/usr/bin' }, platform: 'darwin' as const, cwd: '/project' };
  expect(programOnPath('./run.sh', { ...where, isProgram: having('/project/run.sh') })).toBe(
    '/project/run.sh',
  );
  expect(programOnPath('/opt/x', { ...where, isProgram: having('/opt/x') })).toBe('/opt/x');
  expect(programOnPath('bin/x', { ...where, isProgram: having('/usr/bin/bin/x') })).toBeUndefined();
});

test('Windows finds what its endings say', () => {
  const env = { Path: String.raw`C:\Windows;C:\Program Files\nodejs`, PATHEXT: '.EXE;.CMD' };
  const where = { env, platform: 'win32' as const, cwd: String.raw`C:\work` };
  const npx = String.raw`C:\Program Files\nodejs\npx.CMD`;
  expect(programOnPath('npx', { ...where, isProgram: having(npx) })).toBe(npx);
  const own = String.raw`C:\work\tools\run.EXE`;
  expect(programOnPath(String.raw`tools\run`, { ...where, isProgram: having(own) })).toBe(own);
});
