import {
  chmodSync,
  existsSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { temporaryFolder } from '../../../test/support/test-run.ts';
import { editConfig, readConfigDocument, saveConfig } from './edit-config.ts';

const text = `{
  // mine
  "mcpServers": {
    "a": { "command": "x" } // first
  }
}
`;
const added = { path: ['mcpServers', 'b'], value: { url: 'https://b.example/mcp' } } as const;

function configured(content = text): string {
  const file = join(temporaryFolder(), 'config.jsonc');
  writeFileSync(file, content, { mode: 0o600 });
  return file;
}

describe('editing the config file', () => {
  test('edit: changes only the given member and keeps the file mode', async () => {
    const file = configured();
    chmodSync(file, 0o664);
    expect(await editConfig(await readConfigDocument(file), [added], '1')).toMatchObject({ isChanged: true });
    expect(readFileSync(file, 'utf8')).toBe(
      text.replace(`} // first\n`, `}, // first\n    "b": {\n      "url": "https://b.example/mcp"\n    }\n`),
    );
    expect(statSync(file).mode & 0o777).toBe(0o664);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test('edit: does not write when nothing changes', async () => {
    const file = configured();
    utimesSync(file, 1, 1);
    const same = { path: ['mcpServers', 'a', 'command'], value: 'x' } as const;
    expect(await editConfig(await readConfigDocument(file), [same], '1')).toMatchObject({ isChanged: false });
    expect(statSync(file).mtimeMs).toBe(1000);
  });

  test('edit: creates a commented file with mode 0600 when there is none', async () => {
    const file = join(temporaryFolder(), 'deep', 'config.jsonc');
    await editConfig(await readConfigDocument(file), [added], '1');
    expect(readFileSync(file, 'utf8')).toMatch(/^\/\/ Trunkline configuration[^]*"b": \{\n {6}"url"/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
  });

  test('edit: follows a symbolic link and keeps a byte order mark', async () => {
    const real = configured(`\uFEFF${text}`);
    const link = join(temporaryFolder(), 'config.jsonc');
    symlinkSync(real, link);
    await editConfig(await readConfigDocument(link), [added], '1');
    expect(readFileSync(real, 'utf8')).toMatch(/^\uFEFF\{[^]*"b"/);
  });

  test.each([
    {
      edit: { path: ['mcpServers', 'b'], value: { command: 'x', url: 'y' } },
      says: 'server "b" is left out',
    },
    { edit: { path: ['mcpServers', 'b'], value: { comand: 'x' } }, says: 'did you mean "command"?' },
    { edit: { path: ['expose'], value: { kind: 'all' } }, says: '"expose.kind" must be' },
  ] as const)('edit: does not save an invalid result: $says', async ({ edit, says }) => {
    const file = configured();
    await expect(editConfig(await readConfigDocument(file), [edit], '1')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(says) as unknown,
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('edit: tolerates an entry that was invalid before', async () => {
    const wrong = text.replace('"command"', '"comand"');
    const file = configured(wrong);
    await editConfig(await readConfigDocument(file), [added], '1');
    expect(readFileSync(file, 'utf8')).toContain('"b"');
  });

  test.each([
    { what: 'changed', meanwhile: (file: string) => writeFileSync(file, `${text} `) },
    { what: 'created', meanwhile: (file: string) => writeFileSync(file, text), isNew: true },
  ])('edit: reports a conflict when the file was $what meanwhile', async ({ meanwhile, isNew }) => {
    const file = isNew === true ? join(temporaryFolder(), 'config.jsonc') : configured();
    const document = await readConfigDocument(file);
    meanwhile(file);
    const after = readFileSync(file, 'utf8');
    await expect(editConfig(document, [added], '1')).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    expect(readFileSync(file, 'utf8')).toBe(after);
  });

  test('edit: lets one of two concurrent edits win and rejects the other', async () => {
    const file = configured();
    const document = await readConfigDocument(file);
    const other = { path: ['mcpServers', 'c'], value: { command: 'z' } } as const;
    const both = await Promise.allSettled([
      editConfig(document, [added], '1'),
      editConfig(document, [other], '1'),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('edit: ignores a stale lock', async () => {
    const file = configured();
    writeFileSync(`${file}.lock`, '');
    utimesSync(`${file}.lock`, 1, 1);
    await editConfig(await readConfigDocument(file), [added], '1');
    expect(readFileSync(file, 'utf8')).toContain('"b"');
  });
});

test('edit: rejects a broken file with its position and the command that repairs it', async () => {
  await expect(readConfigDocument(configured('{\n  "mcpServers": oops\n}'))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(/config\.jsonc:2:17: .*trunkline edit/) as unknown,
  });
});

test('edit: validates a whole new text before saving it', async () => {
  const file = configured();
  const document = await readConfigDocument(file);
  await expect(saveConfig(document, '{ "mcpServers": { "a": {} } }', '1')).rejects.toThrow('is left out');
  await saveConfig(document, '{ "mcpServers": {} }', '1');
  expect(readFileSync(file, 'utf8')).toBe('{ "mcpServers": {} }');
});
