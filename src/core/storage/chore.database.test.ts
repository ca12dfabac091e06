import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
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

  test('chore: is claimed by exactly one of many concurrent processes', async () => {
    const [one, other] = await opened();
    const chore = { name: 'sweep', everyMs: 60_000 };
    const asked = Array.from({ length: 10 }, (_, at) => claimChore(at % 2 === 0 ? one : other, chore));
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
    expect(await claimChore(other, { ...chore, name: 'dust' })).toBe(true);
  });

  test('chore: can be claimed by another process when the period is over', async () => {
    const [one, other] = await opened();
    const chore = { name: 'sweep', everyMs: 50 };
    expect(await claimChore(one, chore)).toBe(true);
    await eventually(() => claimChore(other, chore));
  });

  test('chore: stays open until it is recorded as done', async () => {
    const [one, other] = await opened();
    const chore = { name: 'list', everyMs: 60_000 };
    expect(await isChoreDone(one, chore)).toBe(false);
    await noteChore(one, 'list');
    expect(await isChoreDone(other, chore)).toBe(true);
    expect(await isChoreDone(other, { ...chore, name: 'other' })).toBe(false);
    await eventually(async () => !(await isChoreDone(other, { ...chore, everyMs: 20 })));
  });
});
