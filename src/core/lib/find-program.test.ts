import { expect, test } from 'vitest';

import { findProgram } from './find-program.ts';

const having =
  (...files: string[]) =>
  (file: string) =>
    files.includes(file);

test('program lookup: takes the first match in PATH', () => {
  const env = { PATH: '/nowhere::/usr/local/bin:/usr/bin' };
  const where = { env, platform: 'linux' as const, cwd: '/project' };
  expect(findProgram('node', { ...where, isProgram: having('/usr/bin/node', '/usr/local/bin/node') })).toBe(
    '/usr/local/bin/node',
  );
  expect(findProgram('node', { ...where, isProgram: having() })).toBeUndefined();
});

test('program lookup: resolves a relative path against the working directory, not PATH', () => {
  const where = { env: { PATH: '/usr/bin' }, platform: 'darwin' as const, cwd: '/project' };
  expect(findProgram('./run.sh', { ...where, isProgram: having('/project/run.sh') })).toBe('/project/run.sh');
  expect(findProgram('/opt/x', { ...where, isProgram: having('/opt/x') })).toBe('/opt/x');
  expect(findProgram('bin/x', { ...where, isProgram: having('/usr/bin/bin/x') })).toBeUndefined();
});

test('program lookup: tries the extensions of PATHEXT on Windows', () => {
  const env = { Path: String.raw`C:\Windows;C:\Program Files\nodejs`, PATHEXT: '.EXE;.CMD' };
  const where = { env, platform: 'win32' as const, cwd: String.raw`C:\work` };
  const npx = String.raw`C:\Program Files\nodejs\npx.CMD`;
  expect(findProgram('npx', { ...where, isProgram: having(npx) })).toBe(npx);
  const own = String.raw`C:\work\tools\run.EXE`;
  expect(findProgram(String.raw`tools\run`, { ...where, isProgram: having(own) })).toBe(own);
});
