import { describe, expect, test } from 'vitest';

import type { Credentials, Refusal } from '../model/credentials.ts';
import { GatewayError } from '../model/errors.ts';
import { HttpStatusError } from '../wire/stream.ts';
import { effectiveHeaders, hasAuthorization, headerSource, judgeRefusal } from './refusals.ts';

const about = { since: 1, repeats: 0 };

function credentials(answer: 'try-again' | GatewayError, asked: Refusal[] = []): Credentials {
  return {
    headers: () => ({}),
    refused: (refusal) => {
      asked.push(refusal);
      return Promise.resolve(answer);
    },
    onSignedIn: () => {},
    [Symbol.dispose]: () => {},
  };
}

describe('effectiveHeaders', () => {
  test.each(['', ' ', 'Bearer', 'Bearer ', 'bearer  ', 'Basic '])(
    'leaves out an Authorization of "%s"',
    (value) => {
      const headers = effectiveHeaders({ authorization: value, 'X-Other': '' });
      expect(headers).toEqual({ 'X-Other': '' });
      expect(hasAuthorization(headers)).toBe(false);
    },
  );

  test('keeps any other as it is', () => {
    const headers = { Authorization: 'Bearer x' };
    expect(effectiveHeaders(headers)).toBe(headers);
    expect(hasAuthorization(headers)).toBe(true);
  });
});

describe('headerSource', () => {
  test('gives the same object while nothing changed', () => {
    let proof = { Authorization: 'Bearer 1' };
    const source = headerSource({ 'X-A': 'a' }, { ...credentials('try-again'), headers: () => proof });
    const first = source();
    expect(first).toEqual({ 'X-A': 'a', Authorization: 'Bearer 1' });
    expect(source()).toBe(first);
    proof = { Authorization: 'Bearer 2' };
    expect(source()).toEqual({ 'X-A': 'a', Authorization: 'Bearer 2' });
  });

  test('waits for a proof that needs time', async () => {
    const headers = (): Promise<{ Authorization: string }> => Promise.resolve({ Authorization: 'Bearer 3' });
    await expect(headerSource({}, { ...credentials('try-again'), headers })()).resolves.toEqual({
      Authorization: 'Bearer 3',
    });
  });
});

describe('judgeRefusal', () => {
  const needed = new GatewayError('UPSTREAM_NEEDS_AUTH', 'sign in');
  const refused = (status: number): HttpStatusError =>
    new HttpStatusError(status, { 'www-authenticate': 'Bearer scope="a"' }, 'body');

  test.each([400, 404, 500])('HTTP %i is nothing of theirs', async (status) => {
    expect(await judgeRefusal(refused(status), credentials(needed), about)).toBeUndefined();
    expect(await judgeRefusal(refused(401), undefined, about)).toBeUndefined();
  });

  test('hands the challenge on and tries again', async () => {
    const asked: Refusal[] = [];
    expect(await judgeRefusal(refused(401), credentials('try-again', asked), about)).toBe('try-again');
    expect(await judgeRefusal(refused(401), credentials('try-again', asked), { since: 2, repeats: 1 })).toBe(
      'try-again',
    );
    const said = { status: 401, challenge: 'Bearer scope="a"', body: 'body', isLast: false };
    expect(asked).toEqual([
      { ...said, since: 1, isRepeated: false },
      { ...said, since: 2, isRepeated: true },
    ]);
  });

  test('a refusal of the credentials ends the connection, one of a single call does not', async () => {
    expect(await judgeRefusal(refused(401), credentials(needed), about)).toEqual({
      error: needed,
      ends: true,
    });
    expect(await judgeRefusal(refused(403), credentials(needed), about)).toEqual({
      error: needed,
      ends: false,
    });
  });

  test('trouble that may pass does not end it', async () => {
    const error = new GatewayError('UPSTREAM_UNAVAILABLE', 'later');
    expect(await judgeRefusal(refused(401), credentials(error), about)).toEqual({ error, ends: false });
  });

  test('nothing is tried a fourth time', async () => {
    const verdict = await judgeRefusal(refused(401), credentials('try-again'), {
      ...about,
      repeats: 2,
    });
    expect(verdict).toMatchObject({ ends: true, error: { code: 'UPSTREAM_NEEDS_AUTH' } });
  });

  test('a token that was gone before anything was sent ends the connection as well', async () => {
    expect(await judgeRefusal(needed, credentials('try-again'), about)).toEqual({
      error: needed,
      ends: true,
    });
  });
});
