import { expect, test } from 'vitest';

import { MemoryReplicas } from '../../../test/support/memory-replicas.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { OpenQuestions } from './open-questions.ts';

test('open question: accepts one answer and ignores later answers and unknown ids', async () => {
  const questions = new OpenQuestions();
  const ids: string[] = [];
  const answers = [1, 2].map(() => questions.ask((id) => ids.push(id), new Cancellation()));
  expect(await questions.answer(ids[1] ?? '', { action: 'accept' })).toBe(true);
  expect(await answers[1]).toEqual({ action: 'accept' });
  expect(await questions.answer(ids[1] ?? '', { action: 'decline' })).toBe(false);
  expect(await questions.answer(ids[0] ?? '', { action: 'decline' })).toBe(true);
  expect(await answers[0]).toEqual({ action: 'decline' });
  expect(await questions.answer('never-asked', {})).toBe(false);
});

test('open question: rejects when its call is cancelled and accepts no answer afterwards', async () => {
  const questions = new OpenQuestions();
  const cancellation = new Cancellation();
  const ids: string[] = [];
  const answer = questions.ask((id) => ids.push(id), cancellation);
  cancellation.cancel(new Error('The client went away.'));
  await expect(answer).rejects.toThrow('The client went away.');
  expect(await questions.answer(ids[0] ?? '', {})).toBe(false);
});

test('open question: accepts an answer through another replica and fails when its own replica is gone', async () => {
  const others = new MemoryReplicas('aaaaaaaa', 'bbbbbbbb');
  const here = new OpenQuestions(others.as('aaaaaaaa'));
  const there = new OpenQuestions(others.as('bbbbbbbb'));
  const ids: string[] = [];
  const answer = here.ask((id) => ids.push(id), new Cancellation());
  const [id = ''] = ids;
  expect(
    await there.answer(
      id.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
      {},
    ),
  ).toBe(false);
  expect(await there.answer(id, { action: 'accept', content: { name: 'Anna' } })).toBe(true);
  expect(await answer).toEqual({ action: 'accept', content: { name: 'Anna' } });
  expect(await there.answer(id, {})).toBe(false);
  others.set('aaaaaaaa', false);
  await expect(there.answer(id, {})).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
});
