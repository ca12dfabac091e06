import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { program } from '../support/command.ts';
import { temporaryFolder } from '../support/test-run.ts';

const folder = temporaryFolder('start-up');
const empty = join(folder, 'empty.mjs');
writeFileSync(empty, '');
const atEnd = join(folder, 'at-end.cjs');
writeFileSync(
  atEnd,
  `process.on('exit', () => require('node:fs').writeFileSync(process.env.LOADED, Object.keys(require.cache).join('\\n')));`,
);

/** As a share of what an empty script takes, measured in turns, so that a busy machine slows both. */
test('help comes not much later than an empty script ends', () => {
  const times = (args: readonly string[]): number => {
    const begin = performance.now();
    expect(spawnSync(process.execPath, args, { stdio: 'ignore' }).status).toBe(0);
    return performance.now() - begin;
  };
  const ratios = Array.from({ length: 15 }, () => {
    const base = times([empty]);
    return times([program, '--help']) / base;
  });
  // An empty script takes 40 ms on a quiet machine; 80 ms more would be three times that.
  expect(ratios.toSorted((a, b) => a - b)[7]).toBeLessThan(2.5);
});

test.each([
  { args: ['--help'] },
  { args: ['--version'] },
  { args: ['call', '--help'] },
  { args: ['__complete', '--', 'call', ''] },
])('$args loads neither commands that were not chosen nor packages', ({ args }) => {
  const loaded = join(temporaryFolder('loaded'), 'files');
  const { status } = spawnSync(process.execPath, ['--require', atEnd, program, ...args], {
    // Without code of earlier starts Node loads each file itself, and can be asked for them.
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
