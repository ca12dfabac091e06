import { mkdtemp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { writeFileAtomic } from './write-file-atomic.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-atomic-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('writeFileAtomic', () => {
  test('atomic write: creates a file that only its owner can read, and missing folders', async () => {
    const path = join(folder, 'a', 'b', 'file.json');
    await writeFileAtomic(path, '{}', 0o600);
    expect(await readFile(path, 'utf8')).toBe('{}');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'a'))).mode & 0o777).toBe(0o700);
  });

  test('atomic write: replaces the old content and leaves no temporary file', async () => {
    const path = join(folder, 'file.json');
    await writeFile(path, 'a much longer text that was there before');
    await writeFileAtomic(path, 'new', 0o600);
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await readdir(folder)).toEqual(['file.json']);
  });

  test('atomic write: keeps exactly one of several concurrent writes intact', async () => {
    const path = join(folder, 'file.json');
    const texts = Array.from({ length: 20 }, (_, at) => `${at}`.repeat(1000));
    await Promise.all(texts.map((text) => writeFileAtomic(path, text, 0o600)));
    expect(texts).toContain(await readFile(path, 'utf8'));
    expect(await readdir(folder)).toEqual(['file.json']);
  });

  test('atomic write: leaves no temporary file behind when the rename fails', async () => {
    const path = join(folder, 'taken');
    await mkdir(join(path, 'by-a-folder'), { recursive: true });
    await expect(writeFileAtomic(path, 'text', 0o600)).rejects.toThrow();
    expect(await readdir(folder)).toEqual(['taken']);
  });
});
