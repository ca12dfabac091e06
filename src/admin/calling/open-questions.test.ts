import { expect, test } from 'vitest';

import { Cancellation } from '../../lib/cancellation.ts';
import { OpenQuestions } from './open-questions.ts';

test('an answer reaches its question once, and no other', async () => {
  const questions = new OpenQuestions();
  const ids: string[] = [];
  const asked = [1, 2].map(() => questions.ask((id) => ids.push(id), new Cancellation()));
  expect(questions.answer(ids[1] ?? '', { action: 'accept' })).toBe(true);
  expect(await asked[1]).toEqual({ action: 'accept' });
  expect(questions.answer(ids[1] ?? '', { action: 'decline' })).toBe(false);
  expect(questions.answer(ids[0] ?? '', { action: 'decline' })).toBe(true);
  expect(await asked[0]).toEqual({ action: 'decline' });
  expect(questions.answer('never-asked', {})).toBe(false);
});

test('a call that is over waits for no answer', async () => {
  const questions = new OpenQuestions();
  const cancellation = new Cancellation();
  const ids: string[] = [];
  const asked = questions.ask((id) => ids.push(id), cancellation);
  cancellation.cancel(new Error('The client went away.'));
  await expect(asked).rejects.toThrow('The client went away.');
  expect(questions.answer(ids[0] ?? '', {})).toBe(false);
});
