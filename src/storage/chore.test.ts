import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../test/support/each-engine.ts';
import { eventually } from '../../test/support/eventually.ts';
import { temporaryFolder } from '../../test/support/test-run.ts';
import { claimChore, isChoreDone, noteChore } from './chore.ts';
import { openDatabase } from './database.ts';

eachEngine((_engine, newStore) => {
  const opened = async () => {
    const place = await newStore(temporaryFolder('chores'));
    const open = async () => {
      const database = await openDatabase(place);
      onTestFinished(() => database[Symbol.asyncDispose]());
      return database;
    };
    return [await open(), await open()] as const;
  };

  test('of all who ask at once, one is told to do it', async () => {
    const [one, other] = await opened();
    const chore = { name: 'sweep', everyMs: 60_000 };
    const asked = Array.from({ length: 10 }, (_, at) => claimChore(at % 2 === 0 ? one : other, chore));
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
    expect(await claimChore(other, { ...chore, name: 'dust' })).toBe(true);
  });

  test('when the period is over somebody else may, whatever became of the first', async () => {
    const [one, other] = await opened();
    const chore = { name: 'sweep', everyMs: 50 };
    expect(await claimChore(one, chore)).toBe(true);
    await eventually(() => claimChore(other, chore));
  });

  test('one that counts when it succeeded is open until then', async () => {
    const [one, other] = await opened();
    const chore = { name: 'list', everyMs: 60_000 };
    expect(await isChoreDone(one, chore)).toBe(false);
    await noteChore(one, 'list');
    expect(await isChoreDone(other, chore)).toBe(true);
    expect(await isChoreDone(other, { ...chore, name: 'other' })).toBe(false);
    await eventually(async () => !(await isChoreDone(other, { ...chore, everyMs: 20 })));
  });
});
