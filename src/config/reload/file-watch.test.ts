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
import { FileWatch } from './file-watch.ts';

describe('a watched file', () => {
  let folder: string;
  let file: string;
  let changes = 0;
  let looks = 0;
  let watch: FileWatch;
  interface Pace {
    pollMs?: number;
    toldPollMs?: number;
    quietMs?: number;
    patienceMs?: number;
  }
  const begin = async (options: Pace = {}) => {
    watch = new FileWatch({
      files: () => {
        looks++;
        return [file];
      },
      onChange: () => changes++,
      pollMs: 100,
      quietMs: 20,
      ...options,
    });
    // What it saw first, and that it listens, is a matter of a few turns.
    await new Promise((resolve) => setTimeout(resolve, 50));
    changes = 0;
  };
  const isNoticed = (from = 0): Promise<boolean> => eventually(() => changes > from, { what: 'A change' });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-watch-'));
    file = join(folder, 'config.jsonc');
    writeFileSync(file, '1');
  });
  afterEach(() => {
    watch[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });

  test('is noticed when it is edited in place', async () => {
    await begin();
    writeFileSync(file, '2');
    expect(await isNoticed()).toBe(true);
  });

  test('is noticed when it is replaced, again and again', async () => {
    await begin();
    for (const text of ['2', '3', '4']) {
      const before = changes;
      writeFileSync(`${file}.tmp`, text);
      renameSync(`${file}.tmp`, file);
      expect(await isNoticed(before)).toBe(true);
    }
  });

  test('is noticed when it goes and when it comes back', async () => {
    await begin();
    unlinkSync(file);
    expect(await isNoticed()).toBe(true);
    const before = changes;
    writeFileSync(file, '1');
    expect(await isNoticed(before)).toBe(true);
  });

  test('is noticed with its whole folder gone and back', async () => {
    await begin();
    rmSync(folder, { recursive: true });
    expect(await isNoticed()).toBe(true);
    const before = changes;
    mkdirSync(folder);
    writeFileSync(file, '5');
    expect(await isNoticed(before)).toBe(true);
  });

  test('is noticed behind a link, and when the link leads elsewhere', async () => {
    const [one, other] = [join(folder, 'one'), join(folder, 'other')];
    for (const place of [one, other]) {
      mkdirSync(place);
      writeFileSync(join(place, 'real.jsonc'), place);
    }
    unlinkSync(file);
    symlinkSync(join(one, 'real.jsonc'), file);
    await begin();
    writeFileSync(join(one, 'real.jsonc'), 'edited');
    expect(await isNoticed()).toBe(true);
    const before = changes;
    symlinkSync(join(other, 'real.jsonc'), `${file}.new`);
    renameSync(`${file}.new`, file);
    expect(await isNoticed(before)).toBe(true);
  });

  test('is noticed by looking alone, where nothing is told', async () => {
    // A folder that does not exist yet cannot be listened to.
    file = join(folder, 'later', 'config.jsonc');
    await begin();
    mkdirSync(join(folder, 'later'));
    writeFileSync(file, '1');
    expect(await isNoticed()).toBe(true);
  });

  test.runIf(process.platform === 'linux')('is looked at seldom where every change is told', async () => {
    await begin({ pollMs: 10, toldPollMs: 60_000 });
    // Those that come before it knows where the file lies.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = looks;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(looks).toBe(before);
    writeFileSync(`${file}.tmp`, '2');
    renameSync(`${file}.tmp`, file);
    expect(await isNoticed()).toBe(true);
  });

  test.runIf(process.platform === 'linux')('is looked at seldom once its folder is there', async () => {
    file = join(folder, 'later', 'config.jsonc');
    await begin({ pollMs: 10, toldPollMs: 60_000 });
    mkdirSync(join(folder, 'later'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = looks;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(looks).toBe(before);
    writeFileSync(file, '1');
    expect(await isNoticed()).toBe(true);
  });

  test.runIf(process.platform === 'linux')('is noticed when it is written under another name', async () => {
    mkdirSync(join(folder, 'elsewhere'));
    linkSync(file, join(folder, 'elsewhere', 'same'));
    await begin({ toldPollMs: 60_000, pollMs: 60_000 });
    writeFileSync(join(folder, 'elsewhere', 'same'), '2');
    expect(await isNoticed()).toBe(true);
  });

  test('is told of once for many changes in a row', async () => {
    await begin({ quietMs: 300, patienceMs: 60_000 });
    for (let at = 0; at < 30; at++) {
      truncateSync(file, 0);
      writeFileSync(file, String(at));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await isNoticed();
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(changes).toBe(1);
  });

  test('is told of although it never comes to rest', async () => {
    await begin({ quietMs: 200, patienceMs: 300 });
    const writing = setInterval(() => writeFileSync(file, String(Math.random())), 10);
    try {
      expect(await isNoticed()).toBe(true);
    } finally {
      clearInterval(writing);
    }
  });

  test('is left alone after the end', async () => {
    await begin();
    watch[Symbol.dispose]();
    writeFileSync(file, '2');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(changes).toBe(0);
  });

  test('is not noticed for what happens beside it', async () => {
    await begin();
    writeFileSync(join(folder, 'config.jsonc.lock'), 'x');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(changes).toBe(0);
  });
});
