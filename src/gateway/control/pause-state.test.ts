import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { temporaryFolder } from '../../../test/support/test-run.ts';
import { PauseState } from './pause-state.ts';

describe('pause', () => {
  test('pause: lasts across a restart until it is ended', async () => {
    const file = join(temporaryFolder('pause'), 'paused.json');
    expect(new PauseState(file, () => 7).since).toBeUndefined();
    await new PauseState(file, () => 7).begin();
    const restarted = new PauseState(file, () => 9);
    expect(restarted.since).toBe(7);
    await restarted.end();
    expect(new PauseState(file, () => 9).since).toBeUndefined();
  });

  test('pause: stays in force if its file has no valid time', () => {
    const file = join(temporaryFolder('pause'), 'paused.json');
    writeFileSync(file, 'x');
    expect(new PauseState(file, () => 7).since).toBe(0);
  });

  test('pause: is off if the state folder is a file, which cannot contain a pause file', () => {
    const state = join(temporaryFolder('pause'), 'state');
    writeFileSync(state, 'not a folder');
    expect(new PauseState(join(state, 'paused.json'), () => 7).since).toBeUndefined();
  });

  test('pause: stays in force and reports the problem if its file cannot be read', async () => {
    const file = join(temporaryFolder('pause'), 'paused.json');
    // Reading a folder fails for every user, even for root, unlike a file without permissions.
    mkdirSync(file);
    const problems: unknown[] = [];
    const pause = new PauseState(
      file,
      () => 7,
      (problem) => problems.push(problem),
    );
    expect(pause.since).toBe(0);
    expect(problems).toMatchObject([{ code: 'EISDIR' }]);
    await expect(pause.end()).rejects.toThrow();
    expect(pause.since).toBe(0);
    rmdirSync(file);
    await pause.end();
    expect(pause.since).toBeUndefined();
  });
});
