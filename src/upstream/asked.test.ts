import { expect, test } from 'vitest';

import { Cancellation } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import { Payload } from '../lib/payload.ts';
import { Asked } from './asked.ts';

test('nothing is over before every request is answered, however it ends', async () => {
  const asked = new Asked();
  const request = { method: 'x', params: {}, options: { cancellation: new Cancellation() }, isCall: true };
  const [one, other] = [deferred<Payload>(), deferred<Payload>()];
  const answers = [one, other].map(({ promise }) => asked.run(request, () => promise));
  let isOver = false;
  const over = asked.over().then(() => (isOver = true));
  one.resolve(Payload.of(1));
  await answers[0];
  expect(isOver).toBe(false);
  other.reject(new Error('no'));
  await expect(answers[1]).rejects.toThrow('no');
  expect(await over).toBe(true);
  await asked.over();
});
