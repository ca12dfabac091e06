import { describe, expect, test } from 'vitest';

import type { Credentials, Refusal } from '../core/credentials.ts';
import { GatewayError } from '../core/errors.ts';
import { HttpStatusError } from '../protocol/client-transport.ts';
import { createHeaderProvider, handleRefusal } from './upstream-auth.ts';

const attempt = { since: 1, repeats: 0 };

function credentials(answer: 'try-again' | GatewayError, asked: Refusal[] = []): Credentials {
  return {
    headers: () => ({}),
    handleRefusal: (refusal) => {
      asked.push(refusal);
      return Promise.resolve(answer);
    },
    onSignedIn: () => {},
    [Symbol.dispose]: () => {},
  };
}

describe('createHeaderProvider', () => {
  test('header provider: returns the same object until the credentials change', () => {
    let proof = { Authorization: 'Bearer 1' };
    const source = createHeaderProvider(
      { 'X-A': 'a' },
      { ...credentials('try-again'), headers: () => proof },
    );
    const first = source();
    expect(first).toEqual({ 'X-A': 'a', Authorization: 'Bearer 1' });
    expect(source()).toBe(first);
    proof = { Authorization: 'Bearer 2' };
    expect(source()).toEqual({ 'X-A': 'a', Authorization: 'Bearer 2' });
  });

  test('header provider: waits for asynchronous credentials', async () => {
    const headers = (): Promise<{ Authorization: string }> => Promise.resolve({ Authorization: 'Bearer 3' });
    await expect(createHeaderProvider({}, { ...credentials('try-again'), headers })()).resolves.toEqual({
      Authorization: 'Bearer 3',
    });
  });
});

describe('handleRefusal', () => {
  const needed = new GatewayError('UPSTREAM_NEEDS_AUTH', 'sign in');
  const refused = (status: number): HttpStatusError =>
    new HttpStatusError(status, { 'www-authenticate': 'Bearer scope="a"' }, 'body');

  test.each([400, 404, 500])(
    'refusal: ignores HTTP %i, and any status without credentials',
    async (status) => {
      expect(await handleRefusal(refused(status), credentials(needed), attempt)).toBeUndefined();
      expect(await handleRefusal(refused(401), undefined, attempt)).toBeUndefined();
    },
  );

  test('refusal: passes the challenge to the credentials and retries', async () => {
    const asked: Refusal[] = [];
    expect(await handleRefusal(refused(401), credentials('try-again', asked), attempt)).toBe('try-again');
    expect(await handleRefusal(refused(401), credentials('try-again', asked), { since: 2, repeats: 1 })).toBe(
      'try-again',
    );
    const said = { status: 401, challenge: 'Bearer scope="a"', body: 'body', isLast: false };
    expect(asked).toEqual([
      { ...said, since: 1, isRepeated: false },
      { ...said, since: 2, isRepeated: true },
    ]);
  });

  test('refusal: ends the connection on 401, not on 403', async () => {
    expect(await handleRefusal(refused(401), credentials(needed), attempt)).toEqual({
      error: needed,
      endsConnection: true,
    });
    expect(await handleRefusal(refused(403), credentials(needed), attempt)).toEqual({
      error: needed,
      endsConnection: false,
    });
  });

  test('refusal: keeps the connection on a temporary failure of the token refresh', async () => {
    const error = new GatewayError('UPSTREAM_UNAVAILABLE', 'later');
    expect(await handleRefusal(refused(401), credentials(error), attempt)).toEqual({
      error,
      endsConnection: false,
    });
  });

  test('refusal: stops after two repeated attempts', async () => {
    const outcome = await handleRefusal(refused(401), credentials('try-again'), {
      ...attempt,
      repeats: 2,
    });
    expect(outcome).toMatchObject({ endsConnection: true, error: { code: 'UPSTREAM_NEEDS_AUTH' } });
  });

  test('refusal: ends the connection when the token was missing before sending', async () => {
    expect(await handleRefusal(needed, credentials('try-again'), attempt)).toEqual({
      error: needed,
      endsConnection: true,
    });
  });
});
