import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { program } from '../support/command.ts';
import { temporaryFolder } from '../support/test-run.ts';

const folder = temporaryFolder('start-up');
const empty = join(folder, 'empty.mjs');
writeFileSync(empty, '');
const hooks = join(folder, 'hooks.mjs');
writeFileSync(
  hooks,
  `import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(\`
import { appendFileSync } from 'node:fs';
export async function load(url, context, next) {
  if (!url.startsWith('node:')) appendFileSync(process.env.LOADED, url + '\\\\n');
  return next(url, context);
}\`));`,
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
  const loaded = join(temporaryFolder('loaded'), 'urls');
  writeFileSync(loaded, '');
  const { status } = spawnSync(process.execPath, ['--import', hooks, program, ...args], {
    env: { ...process.env, LOADED: loaded, TRUNKLINE_HOME: folder },
    stdio: 'ignore',
  });
  expect(status).toBe(0);
  const urls = spawnSync('cat', [loaded], { encoding: 'utf8' }).stdout.split('\n');
  expect(urls.some((url) => url.endsWith('/dist/main.js'))).toBe(true);
  expect(
    urls.filter((url) => /node_modules|\/chunks\/(?:app|serve|doctor|database|validate|ajv)-/.test(url)),
  ).toEqual([]);
});
