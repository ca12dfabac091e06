import { describe, expect, test } from 'vitest';

import { isTrusted, trust } from '../config/file/trust.ts';
import { TEXT, changedFile, model, person } from './changed-file.test-support.ts';
import type { ChangedServer } from './change-results.ts';
import type { ChangedBy } from './changed-by.ts';
import type { ServerChanges } from './server-changes.ts';

const at = changedFile();

describe('every change', () => {
  const all: readonly [string, (made: ServerChanges, expected?: string) => Promise<unknown>][] = [
    ['add', (made, expected) => made.add({ servers: { a: { command: 'x' } } }, { by: person, expected })],
    ['update', (made, expected) => made.update('one', { command: 'x' }, { by: person, expected })],
    ['remove', (made, expected) => made.remove('one', { by: person, expected })],
    ['disable', (made, expected) => made.disable('one', { by: person, expected })],
  ];

  test.each(all)('(%s) is refused where the file is changed by hand alone', async (_, change) => {
    const text = TEXT.replace('"log"', '"readOnly": true, "log"');
    at.write(text);
    await expect(change(at.changes())).rejects.toMatchObject({ code: 'CONFIG_READ_ONLY' });
    expect([at.now(), at.events, at.applied]).toEqual([text, [], 0]);
  });

  test.each(all)('(%s) is refused when somebody else changed what was looked at', async (_, change) => {
    const { revision } = await at.changes().state();
    at.write(`${TEXT}\n`);
    await expect(change(at.changes(), revision)).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    expect(at.now()).toBe(`${TEXT}\n`);
  });

  test('names the revision that the next one may expect', async () => {
    const made = at.changes();
    const { revision } = await made.disable('one', { by: person });
    expect(await made.enable('one', { by: person, expected: revision })).toMatchObject({
      changed: ['enabled'],
    });
    expect(at.now()).toBe(TEXT);
  });

  test('takes its turn, so that many at once are all made', async () => {
    const made = at.changes();
    const names = Array.from({ length: 20 }, (_, at) => `s${at}`);
    await Promise.all(
      names.map((name) => made.add({ servers: { [name]: { command: name } } }, { by: person })),
    );
    expect(names.filter((name) => at.now().includes(`"${name}"`))).toEqual(names);
  });

  test('keeps a project configuration trusted that was', async () => {
    await trust(at.file, at.trustDir);
    await at.changes().disable('one', { by: person });
    expect(await isTrusted(at.file, at.trustDir)).toBe(true);
  });
});

test('a file that cannot be used still has a state, and is not changed', async () => {
  at.write(TEXT.replace('"log"', 'log'));
  expect(await at.changes().state()).toMatchObject({ file: at.file, readOnly: false });
  await expect(at.changes().disable('one', { by: person })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});

test('a removed server is gone with what is kept about it', async () => {
  await at.changes().remove('one', { by: model });
  expect(at.now()).not.toContain('one-server');
  expect(at.now()).toContain('// address');
  expect(at.removed).toEqual(['one']);
  await expect(at.changes().remove('twoo', { by: person })).rejects.toThrow('Did you mean two?');
});

describe('a server that is switched off', () => {
  const OFF = TEXT.replace('"command": "one-server"', '"enabled": false, "command": "one-server"');
  const ways: readonly [string, (made: ServerChanges, by: ChangedBy) => Promise<ChangedServer>][] = [
    ['enable', (made, by) => made.enable('one', { by })],
    ['update', (made, by) => made.update('one', { enabled: true }, { by })],
  ];

  test.each(ways)('and that nobody approved waits for a person when a model wants it (%s)', async (_, on) => {
    at.write(OFF);
    expect(await on(at.changes(), model)).toMatchObject({ isHeld: true, changed: ['enabled', 'trust'] });
    expect((await at.changes().entry('one')).trust).toBe('manual');
    expect(at.events).toMatchObject([{ details: { by: 'model', held: true } }]);
  });

  test.each(ways)('is used at once where it was approved, or a person wants it (%s)', async (_, on) => {
    at.write(OFF);
    expect(await on(at.changes(), person)).toMatchObject({ isHeld: false, changed: ['enabled'] });
    at.write(OFF);
    at.approve('one');
    expect(await on(at.changes(), model)).toMatchObject({ isHeld: false, changed: ['enabled'] });
    expect((await at.changes().entry('one')).trust).toBe('first-sight');
  });
});

test('switching off and on again leaves the file as it was', async () => {
  const made = at.changes();
  expect(await made.disable('two', { by: person })).toMatchObject({ changed: ['enabled'] });
  expect(await made.disable('two', { by: person })).toMatchObject({ changed: [] });
  expect(at.now()).toContain('"enabled": false');
  await made.enable('two', { by: person });
  expect(at.now()).toBe(TEXT);
});
