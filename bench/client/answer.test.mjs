import { expect, test } from 'vitest';

import { idOf, isResult } from './answer.mjs';

const answer = `{"jsonrpc":"2.0","id":1234,"result":{"text":"${'x'.repeat(300)}"}}`;
const idLast = `{"jsonrpc":"2.0","result":{"text":"${'x'.repeat(300)}"},"id":1234}`;

test.each([answer, idLast])('response parsing: finds the id at any chunk boundary', (text) => {
  const whole = Buffer.from(text);
  for (let at = 1; at < whole.length; at++) {
    const parts = [whole.subarray(0, at), whole.subarray(at)];
    expect([at, idOf(parts), isResult(parts)]).toEqual([at, 1234, true]);
  }
});

test('response parsing: finds the id of an answer of any length', () => {
  for (let length = 0; length < 300; length++) {
    const text = `{"result":{"text":"${'x'.repeat(length)}"},"jsonrpc":"2.0","id":1234}`;
    expect([length, idOf([Buffer.from(text)])]).toEqual([length, 1234]);
  }
});

test('response parsing: finds no id in a notification', () => {
  const text = '{"jsonrpc":"2.0","method":"notifications/message","params":{"id":7}}';
  expect(idOf([Buffer.from(text.slice(0, 20)), Buffer.from(text.slice(20))])).toBeNaN();
});
