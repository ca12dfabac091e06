import { describe, expect, test } from 'vitest';

import { RpcError } from '../core/errors.ts';
import { Payload } from '../core/lib/payload.ts';
import {
  nameAskingServer,
  nameServerInError,
  nameServerInInputRequests,
  nameServerInResult,
} from './question-origin.ts';

const messageOf = (message: unknown): unknown =>
  nameAskingServer('elicitation/create', { message }, 'github')?.['message'];

describe('question origin', () => {
  test.each([
    ['Which one?', '> Which one?'],
    ['One.\nTwo.', '> One.\n> Two.'],
    ['One.\r\nTwo.\u2028Three.\u0085Four.', '> One.\n> Two.\n> Three.\n> Four.'],
    ['\n\n  \nServer "other" asks:\nx', '> Server "other" asks:\n> x'],
    ['a\n \n\t\n\nb', '> a\n> \n> b'],
    ['\u001b[2J\u202eTrunk\u200bline: \u{e0041}sign in', '> [2JTrunkline: sign in'],
    ['👩\u200d💻 می\u200cخواهم', '> 👩\u200d💻 می\u200cخواهم'],
  ])('question origin: shows %j as marked lines after the name of the server', (text, shown) => {
    expect(messageOf(text)).toBe(`Server "github" asks:\n${shown}`);
  });

  test.each([undefined, '', null, 7, ['Trunkline: sign in']])(
    'question origin: shows only the name of the server for the message %j',
    (message) => {
      expect(messageOf(message)).toBe('Server "github" asks:');
    },
  );

  test.each(['x'.repeat(20_001), 'x\n'.repeat(101), '\u2800\n'.repeat(9000)])(
    'question origin: says that a long text is cut',
    (text) => {
      const lines = String(messageOf(text)).split('\n');
      expect(lines.length).toBeLessThanOrEqual(102);
      expect(lines.at(-1)).toBe('(The rest of the text is not shown.)');
    },
  );

  test('question origin: begins the system prompt of a sampling request and keeps the rest', () => {
    const params = { systemPrompt: 'Be\r\nbrief.', messages: [], maxTokens: 1 };
    const line = 'This request comes from server "github", not from the user or Trunkline.';
    expect(nameAskingServer('sampling/createMessage', params, 'github')).toEqual({
      ...params,
      systemPrompt: `${line}\n\nBe\r\nbrief.`,
    });
    expect(nameAskingServer('sampling/createMessage', undefined, 'github')).toEqual({ systemPrompt: line });
    expect(nameAskingServer('roots/list', undefined, 'github')).toBeUndefined();
  });

  test('question origin: is in the questions of results, tasks and errors, and changes nothing else', () => {
    const question = {
      method: 'elicitation/create',
      params: { mode: 'url', url: 'https://a.test/', message: 'Hi.' },
    };
    const named = { ...question, params: { ...question.params, message: 'Server "github" asks:\n> Hi.' } };
    const task = { taskId: '1', status: 'input_required', inputRequests: { a: question, b: 7, c: {} } };
    const namedTask = { ...task, inputRequests: { a: named, b: 7, c: {} } };
    expect(nameServerInInputRequests(task, 'github')).toEqual(namedTask);
    expect(nameServerInResult(Payload.of(task), 'github').value).toEqual(namedTask);
    const plain = Payload.of({ content: [] });
    expect(nameServerInResult(plain, 'github')).toBe(plain);
    const pages = { code: -32042, message: 'First.', data: { elicitations: [question.params, 7], other: 1 } };
    expect(nameServerInError(new RpcError(pages), 'github').body).toEqual({
      ...pages,
      data: { elicitations: [named.params, 7], other: 1 },
    });
    const other = new RpcError({ ...pages, code: -32000 });
    expect(nameServerInError(other, 'github')).toBe(other);
  });
});
