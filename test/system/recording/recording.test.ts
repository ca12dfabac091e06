import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { checkLeaks } from '../../support/leak-check.ts';
import { needs } from '../../support/needs.ts';

needs('expect');
checkLeaks();

const script = fileURLToPath(new URL('../../../scripts/recording.mjs', import.meta.url));

test('recording: the picture in the README shows what the commands print', { timeout: 180_000 }, () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toContain('The recording is up to date.');
  expect(status).toBe(0);
});
