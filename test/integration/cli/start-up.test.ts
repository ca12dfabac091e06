import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { program } from '../../support/command.ts';
import { temporaryFolder } from '../../support/test-run.ts';

const folder = temporaryFolder('start-up');
const atEnd = join(folder, 'at-end.cjs');
writeFileSync(
  atEnd,
  `process.on('exit', () => require('node:fs').writeFileSync(process.env.LOADED, Object.keys(require.cache).join('\\n')));`,
);

test.each([
  { args: ['--help'] },
  { args: ['--version'] },
  { args: ['call', '--help'] },
  { args: ['__complete', '--', 'call', ''] },
])('startup: $args loads no other command and no package', ({ args }) => {
  const loaded = join(temporaryFolder('loaded'), 'files');
  const { status } = spawnSync(process.execPath, ['--require', atEnd, program, ...args], {
    // Without the compile cache, Node.js loads each file itself and lists it in require.cache.
    env: { ...process.env, LOADED: loaded, TRUNKLINE_HOME: folder, NODE_DISABLE_COMPILE_CACHE: '1' },
    stdio: 'ignore',
  });
  expect(status).toBe(0);
  const files = readFileSync(loaded, 'utf8').split('\n');
  expect(files.filter((file) => /\/dist\/(?:main\.js|chunks\/start-)/.test(file))).toHaveLength(2);
  expect(
    files.filter((file) =>
      /\/node_modules\/|\/chunks\/(?:gateway|app|serve|doctor|database|validate|ajv)-/.test(file),
    ),
  ).toEqual([]);
});
