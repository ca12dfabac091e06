import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { FileWatcher } from './file-watcher.ts';

describe('file watch', () => {
  let folder: string;
  let file: string;
  let changes = 0;
  let reads = 0;
  let watcher: FileWatcher;
  interface Timing {
    pollMs?: number;
    watchedPollMs?: number;
    settleMs?: number;
    maxSettleMs?: number;
  }
  const startWatching = async (options: Timing = {}) => {
    watcher = new FileWatcher({
      files: () => {
        reads++;
        return [file];
      },
      onChange: () => changes++,
      pollMs: 100,
      settleMs: 20,
      ...options,
    });
    await watcher.ready;
    changes = 0;
  };
  const isChangeReported = (from = 0): Promise<boolean> =>
    eventually(() => changes > from, { what: 'A change' });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-watch-'));
    file = join(folder, 'config.jsonc');
    writeFileSync(file, '1');
  });
  afterEach(() => {
    watcher[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });

  test('file watch: watches files that a slow change named only when it was applied', async () => {
    const other = join(folder, 'guard.mjs');
    writeFileSync(other, '1');
    let files = [file];
    const applied = deferred<void>();
    changes = 0;
    watcher = new FileWatcher({
      files: () => files,
      onChange: () => {
        changes++;
        return applied.promise;
      },
      pollMs: 20,
      watchedPollMs: 600_000,
      settleMs: 20,
    });
    await watcher.ready;
    writeFileSync(file, '2');
    await isChangeReported();
    // Several polls later the file has come to rest, and polling is rare.
    await new Promise((resolve) => setTimeout(resolve, 200));
    files = [file, other];
    applied.resolve();
    await isChangeReported(changes);
    const before = changes;
    writeFileSync(other, '2');
    expect(await isChangeReported(before)).toBe(true);
  });

  test('file watch: reports an edit in place', async () => {
    await startWatching();
    writeFileSync(file, '2');
    expect(await isChangeReported()).toBe(true);
  });

  test('file watch: reports every replacement by rename', async () => {
    await startWatching();
    for (const text of ['2', '3', '4']) {
      const before = changes;
      writeFileSync(`${file}.tmp`, text);
      renameSync(`${file}.tmp`, file);
      expect(await isChangeReported(before)).toBe(true);
    }
  });

  test('file watch: reports deletion and re-creation', async () => {
    await startWatching();
    unlinkSync(file);
    expect(await isChangeReported()).toBe(true);
    const before = changes;
    writeFileSync(file, '1');
    expect(await isChangeReported(before)).toBe(true);
  });

  test('file watch: reports deletion and re-creation of the folder', async () => {
    await startWatching();
    rmSync(folder, { recursive: true });
    expect(await isChangeReported()).toBe(true);
    const before = changes;
    mkdirSync(folder);
    writeFileSync(file, '5');
    expect(await isChangeReported(before)).toBe(true);
  });

  test('file watch: reports changes behind a symbolic link and of the link itself', async () => {
    const [one, other] = [join(folder, 'one'), join(folder, 'other')];
    for (const target of [one, other]) {
      mkdirSync(target);
      writeFileSync(join(target, 'real.jsonc'), target);
    }
    unlinkSync(file);
    symlinkSync(join(one, 'real.jsonc'), file);
    await startWatching();
    writeFileSync(join(one, 'real.jsonc'), 'edited');
    expect(await isChangeReported()).toBe(true);
    const before = changes;
    symlinkSync(join(other, 'real.jsonc'), `${file}.new`);
    renameSync(`${file}.new`, file);
    expect(await isChangeReported(before)).toBe(true);
  });

  test('file watch: polls a folder that does not exist yet', async () => {
    // A folder that does not exist yet cannot be watched.
    file = join(folder, 'later', 'config.jsonc');
    await startWatching();
    mkdirSync(join(folder, 'later'));
    writeFileSync(file, '1');
    expect(await isChangeReported()).toBe(true);
  });

  test.runIf(process.platform === 'linux')(
    'file watch: rarely polls where the system reports every change',
    async () => {
      await startWatching({ pollMs: 10, watchedPollMs: 60_000 });
      // Wait for the polls that precede the first file system watch.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const before = reads;
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(reads).toBe(before);
      writeFileSync(`${file}.tmp`, '2');
      renameSync(`${file}.tmp`, file);
      expect(await isChangeReported()).toBe(true);
    },
  );

  test.runIf(process.platform === 'linux')(
    'file watch: rarely polls once a missing folder exists',
    async () => {
      file = join(folder, 'later', 'config.jsonc');
      await startWatching({ pollMs: 10, watchedPollMs: 60_000 });
      mkdirSync(join(folder, 'later'));
      await new Promise((resolve) => setTimeout(resolve, 300));
      const before = reads;
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(reads).toBe(before);
      writeFileSync(file, '1');
      expect(await isChangeReported()).toBe(true);
    },
  );

  test.runIf(process.platform === 'linux')('file watch: reports a write through a hard link', async () => {
    mkdirSync(join(folder, 'elsewhere'));
    linkSync(file, join(folder, 'elsewhere', 'same'));
    await startWatching({ watchedPollMs: 60_000, pollMs: 60_000 });
    writeFileSync(join(folder, 'elsewhere', 'same'), '2');
    expect(await isChangeReported()).toBe(true);
  });

  test('file watch: reports many changes in a row once', async () => {
    await startWatching({ settleMs: 300, maxSettleMs: 60_000 });
    for (let at = 0; at < 30; at++) {
      truncateSync(file, 0);
      writeFileSync(file, String(at));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await isChangeReported();
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(changes).toBe(1);
  });

  test('file watch: reports a file that changes without pause', async () => {
    await startWatching({ settleMs: 200, maxSettleMs: 300 });
    const writing = setInterval(() => writeFileSync(file, String(Math.random())), 10);
    try {
      expect(await isChangeReported()).toBe(true);
    } finally {
      clearInterval(writing);
    }
  });

  test('file watch: reports nothing after dispose', async () => {
    await startWatching();
    watcher[Symbol.dispose]();
    writeFileSync(file, '2');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(changes).toBe(0);
  });

  test('file watch: ignores other files in the folder', async () => {
    await startWatching();
    writeFileSync(join(folder, 'config.jsonc.lock'), 'x');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(changes).toBe(0);
  });
});
