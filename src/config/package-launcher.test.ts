import { expect, test } from 'vitest';

import { findPackageLauncher } from './package-launcher.ts';

test.each([
  ['npx -y some-package notes', 'npx', 1],
  ['npx some-package', 'npx', 0],
  ['/usr/bin/npx --package some-package some-program', 'npx', 2],
  ['C:\\nodejs\\npx.cmd -y some-package', 'npx', 1],
  ['cmd /c npx -y some-package', 'npx', 3],
  ['npm exec -- some-package', 'npm exec', 2],
  ['bunx some-package', 'bunx', 0],
  ['pnpm dlx some-package', 'pnpm dlx', 1],
  ['yarn dlx -q some-package', 'yarn dlx', 2],
  ['uvx --from some-package some-program', 'uvx', 2],
  ['uv tool run some-package', 'uv tool run', 2],
  ['pipx run some-package', 'pipx run', 1],
  ['docker run -i --rm mcp/fetch', 'docker run', undefined],
  ['podman run mcp/fetch', 'podman run', undefined],
])('package launcher: is recognised in %s', (line, name, packageAt) => {
  const [command = '', ...args] = line.split(' ');
  expect(findPackageLauncher(command, args)).toEqual({ name, packageAt });
});

test.each([
  'node server.mjs npx',
  'npm run server',
  'uv run server.py',
  'docker exec box server',
  'cmd /c node server.mjs',
  'cmd',
  'my-npx some-package',
])('package launcher: is not recognised in %s', (line) => {
  const [command = '', ...args] = line.split(' ');
  expect(findPackageLauncher(command, args)).toBeUndefined();
});
