import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { makeFolder, makeFolderSync } from './make-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ways = [
  { way: 'async', make: makeFolder },
  {
    way: 'sync',
    make: (path: string, mode?: number) =>
      new Promise<void>((resolve) => {
        makeFolderSync(path, mode);
        resolve();
      }),
  },
];

describe.each(ways)('make folder, $way', ({ make }) => {
  test('make folder: creates missing parents, all with the given mode', async () => {
    await make(join(folder, 'a', 'b', 'c'), 0o700);
    expect(['a', 'a/b', 'a/b/c'].map((each) => statSync(join(folder, each)).mode & 0o777)).toEqual([
      0o700, 0o700, 0o700,
    ]);
  });

  test('make folder: leaves an existing folder unchanged', async () => {
    const path = join(folder, 'there');
    mkdirSync(path);
    chmodSync(path, 0o750);
    await make(path, 0o700);
    await make('/', 0o700);
    symlinkSync(path, join(folder, 'link'));
    await make(join(folder, 'link'), 0o700);
    expect(statSync(path).mode & 0o777).toBe(0o750);
  });

  test('make folder: fails on an existing file or a dangling link', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expect(make(file)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(make(join(file, 'below', 'it'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
    await expect(make(join(folder, 'dangling'))).rejects.toMatchObject({ code: 'EEXIST' });
  });

  test.runIf(existsSync('/proc/self'))(
    'make folder: fails with ENOENT where the file system does not allow folders',
    async () => {
      await expect(make('/proc/trunkline')).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(make('/proc/trunkline/a/b/c')).rejects.toMatchObject({ code: 'ENOENT' });
    },
  );
});
