import { expect, test } from 'vitest';

import { MemoryOthers } from '../../../test/support/memory-others.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import { OpenQuestions } from './open-questions.ts';

test('an answer reaches its question once, and no other', async () => {
  const questions = new OpenQuestions();
  const ids: string[] = [];
  const asked = [1, 2].map(() => questions.ask((id) => ids.push(id), new Cancellation()));
  expect(await questions.answer(ids[1] ?? '', { action: 'accept' })).toBe(true);
  expect(await asked[1]).toEqual({ action: 'accept' });
  expect(await questions.answer(ids[1] ?? '', { action: 'decline' })).toBe(false);
  expect(await questions.answer(ids[0] ?? '', { action: 'decline' })).toBe(true);
  expect(await asked[0]).toEqual({ action: 'decline' });
  expect(await questions.answer('never-asked', {})).toBe(false);
});

test('a call that is over waits for no answer', async () => {
  const questions = new OpenQuestions();
  const cancellation = new Cancellation();
  const ids: string[] = [];
  const asked = questions.ask((id) => ids.push(id), cancellation);
  cancellation.cancel(new Error('The client went away.'));
  await expect(asked).rejects.toThrow('The client went away.');
  expect(await questions.answer(ids[0] ?? '', {})).toBe(false);
});

test('an answer that comes to another gateway reaches the one that asks, and is told when that one is gone', async () => {
  const others = new MemoryOthers('aaaaaaaa', 'bbbbbbbb');
  const here = new OpenQuestions(others.as('aaaaaaaa'));
  const there = new OpenQuestions(others.as('bbbbbbbb'));
  const ids: string[] = [];
  const asked = here.ask((id) => ids.push(id), new Cancellation());
  const [id = ''] = ids;
  expect(
    await there.answer(
      id.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      {},
    ),
  ).toBe(false);
  expect(await there.answer(id, { action: 'accept', content: { name: 'Anna' } })).toBe(true);
  expect(await asked).toEqual({ action: 'accept', content: { name: 'Anna' } });
  expect(await there.answer(id, {})).toBe(false);
  others.set('aaaaaaaa', false);
  await expect(there.answer(id, {})).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
});
