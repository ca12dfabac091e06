import { describe, expect, test } from 'vitest';

import { isTrusted, trustConfig } from '../../config/file/config-trust.ts';
import { CONFIG_TEXT, useConfigFile, model, person } from './config-file.test-support.ts';
import type { ChangeServerResult } from './change-results.ts';
import type { ChangeAuthor } from './change-author.ts';
import type { ServerEditor } from './server-editor.ts';

const configFile = useConfigFile();

describe('server changes', () => {
  const all: readonly [string, (editor: ServerEditor, expected?: string) => Promise<unknown>][] = [
    [
      'add',
      (editor, expected) =>
        editor.add({ servers: { a: { command: 'x' } } }, { author: person, expectedRevision: expected }),
    ],
    [
      'update',
      (editor, expected) =>
        editor.update('one', { command: 'x' }, { author: person, expectedRevision: expected }),
    ],
    ['remove', (editor, expected) => editor.remove('one', { author: person, expectedRevision: expected })],
    ['disable', (editor, expected) => editor.disable('one', { author: person, expectedRevision: expected })],
  ];

  test.each(all)('%s: is rejected when the configuration is read-only', async (_, change) => {
    const text = CONFIG_TEXT.replace('"log"', '"readOnly": true, "log"');
    configFile.write(text);
    await expect(change(configFile.editor())).rejects.toMatchObject({ code: 'CONFIG_READ_ONLY' });
    expect([configFile.now(), configFile.events, configFile.applied]).toEqual([text, [], 0]);
  });

  test.each(all)(
    '%s: is rejected when the file has changed since the expected revision',
    async (_, change) => {
      const { revision } = await configFile.editor().state();
      configFile.write(`${CONFIG_TEXT}\n`);
      await expect(change(configFile.editor(), revision)).rejects.toMatchObject({
        code: 'REVISION_CONFLICT',
      });
      expect(configFile.now()).toBe(`${CONFIG_TEXT}\n`);
    },
  );

  test('change: returns the revision that the next change can expect', async () => {
    const editor = configFile.editor();
    const { revision } = await editor.disable('one', { author: person });
    expect(await editor.enable('one', { author: person, expectedRevision: revision })).toMatchObject({
      changed: ['enabled'],
    });
    expect(configFile.now()).toBe(CONFIG_TEXT);
  });

  test('change: serializes concurrent changes and applies all of them', async () => {
    const editor = configFile.editor();
    const names = Array.from({ length: 20 }, (_, at) => `s${at}`);
    await Promise.all(
      names.map((name) => editor.add({ servers: { [name]: { command: name } } }, { author: person })),
    );
    expect(names.filter((name) => configFile.now().includes(`"${name}"`))).toEqual(names);
  });

  test('change: keeps a trusted project configuration trusted', async () => {
    await trustConfig(configFile.file, configFile.trustDir);
    await configFile.editor().disable('one', { author: person });
    expect(await isTrusted(configFile.file, configFile.trustDir)).toBe(true);
  });
});

test('invalid file: still reports its state, and rejects changes', async () => {
  configFile.write(CONFIG_TEXT.replace('"log"', 'log'));
  expect(await configFile.editor().state()).toMatchObject({ file: configFile.file, readOnly: false });
  await expect(configFile.editor().disable('one', { author: person })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
});

test('remove: deletes the server with its data and suggests similar names for unknown ones', async () => {
  await configFile.editor().remove('one', { author: model });
  expect(configFile.now()).not.toContain('one-server');
  expect(configFile.now()).toContain('// address');
  expect(configFile.removed).toEqual(['one']);
  await expect(configFile.editor().remove('twoo', { author: person })).rejects.toThrow('Did you mean two?');
});

describe('disabled servers', () => {
  const OFF = CONFIG_TEXT.replace('"command": "one-server"', '"enabled": false, "command": "one-server"');
  const ways: readonly [
    string,
    (editor: ServerEditor, author: ChangeAuthor) => Promise<ChangeServerResult>,
  ][] = [
    ['enable', (editor, author) => editor.enable('one', { author })],
    ['update', (editor, author) => editor.update('one', { enabled: true }, { author })],
  ];

  test.each(ways)('%s by a model: holds an unapproved disabled server for manual approval', async (_, on) => {
    configFile.write(OFF);
    expect(await on(configFile.editor(), model)).toMatchObject({
      isHeld: true,
      changed: ['enabled', 'trust'],
    });
    expect((await configFile.editor().entry('one')).trust).toBe('manual');
    expect(configFile.events).toMatchObject([{ details: { by: 'model', held: true } }]);
  });

  test.each(ways)(
    '%s: takes effect at once for a person, and for a model if the server is approved',
    async (_, on) => {
      configFile.write(OFF);
      expect(await on(configFile.editor(), person)).toMatchObject({ isHeld: false, changed: ['enabled'] });
      configFile.write(OFF);
      configFile.approve('one');
      expect(await on(configFile.editor(), model)).toMatchObject({ isHeld: false, changed: ['enabled'] });
      expect((await configFile.editor().entry('one')).trust).toBe('first-sight');
    },
  );
});

test('disable: leaves the file as it was after enabling again', async () => {
  const editor = configFile.editor();
  expect(await editor.disable('two', { author: person })).toMatchObject({ changed: ['enabled'] });
  expect(await editor.disable('two', { author: person })).toMatchObject({ changed: [] });
  expect(configFile.now()).toContain('"enabled": false');
  await editor.enable('two', { author: person });
  expect(configFile.now()).toBe(CONFIG_TEXT);
});
