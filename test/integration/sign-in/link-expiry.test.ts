import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { SignInLinks } from '../../../src/auth/upstream/sign-in-links.ts';
import { signInRequiredError } from '../../../src/auth/upstream/sign-in-required-error.ts';
import { SignInOffers } from '../../../src/downstream/questions/sign-in-offers.ts';
import { Cancellation } from '../../../src/core/lib/cancellation.ts';
import { deferred } from '../../../src/core/lib/deferred.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { RpcError } from '../../../src/core/errors.ts';
import type { UpstreamName } from '../../../src/core/ids.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const MINUTE = 60_000;
const signInId = { upstream: 'it' as UpstreamName, caller: '' };
const caller: Caller = { id: 'local', via: 'stdio', profile: 'default' };

// Only timers and dates are fake; sockets and everything else work normally.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** Opens sign-ins that end when the test decides. */
function openDesk() {
  const signedIn = deferred<{ account: string }>();
  const desk = new SignInLinks((_signInId, { open, signal }) => {
    signal.addEventListener('abort', () => signedIn.reject(signal.reason as Error), { once: true });
    void open(new URL('https://issuer.example/authorize'));
    return signedIn.promise;
  });
  signedIn.promise.catch(() => {});
  return { desk, signedIn };
}

test('sign-in link: expires after ten minutes, and the next one has a new URL', async () => {
  const { desk } = openDesk();
  await using _ = desk;
  const first = await desk.start(signInId);
  vi.advanceTimersByTime(9.9 * MINUTE);
  expect(first.state.state).toBe('offered');
  expect((await fetch(new URL('/elsewhere', first.state.url))).status).toBe(404);
  expect(await desk.start(signInId)).toBe(first);
  vi.advanceTimersByTime(0.2 * MINUTE);
  expect(await first.finished).toMatchObject({
    state: 'failed',
    problem: 'The link was not opened within 10 minutes. Nothing was saved; try again.',
  });
  await expect(fetch(first.state.url)).rejects.toThrow();
  const second = await desk.start(signInId);
  expect(second.state.state).toBe('offered');
  expect(second.state.url).not.toBe(first.state.url);
});

test('sign-in link: stays valid once it was opened in time', async () => {
  const { desk, signedIn } = openDesk();
  await using _ = desk;
  const offer = await desk.start(signInId);
  vi.advanceTimersByTime(9 * MINUTE);
  expect((await fetch(offer.state.url, { redirect: 'manual' })).status).toBe(303);
  vi.advanceTimersByTime(30 * MINUTE);
  expect(offer.state.state).toBe('open');
  signedIn.resolve({ account: 'ada' });
  expect(await offer.finished).toMatchObject({ state: 'done', account: 'ada' });
});

test('sign-in link: cancels the sign-in behind it when it is ended', async () => {
  const { desk, signedIn } = openDesk();
  await using _ = desk;
  const offer = await desk.start(signInId);
  await fetch(offer.state.url, { redirect: 'manual' });
  const reason = new Error('Enough.');
  await offer.end(reason);
  await expect(signedIn.promise).rejects.toBe(reason);
  expect(await offer.finished).toMatchObject({ state: 'failed', problem: 'Enough.' });
});

interface Asked {
  readonly params: JsonObject;
}

/** Returns a client that answers questions with `answer`; `undefined` is a client that cannot be asked during a call. */
function clientWith(answer: (() => JsonObject) | undefined) {
  const asked: Asked[] = [];
  const told: string[] = [];
  const requestingClient = {
    capabilities: { elicitation: { url: {} } },
    ask: (_method: string, params: JsonObject): Promise<JsonObject> => {
      asked.push({ params });
      if (answer === undefined)
        return Promise.reject(new RpcError({ code: -32601, message: 'There is no way to ask.' }));
      return Promise.resolve(answer());
    },
    tell: (method: string): void => void told.push(method),
  };
  // The code under test uses only these members of a call.
  const request = { session: 'one', requestingClient, cancellation: new Cancellation() } as never;
  return { asked, told, refused: { caller, era: 'legacy' as const, request } };
}

function offersAt(desk: SignInLinks): SignInOffers {
  return new SignInOffers({
    startSignIn: () => desk.start(signInId),
    isLocal: () => true,
    now: () => Date.now(),
  });
}

test('sign-in link: fails the call when it expires, and the next call gets a new one', async () => {
  const { desk } = openDesk();
  await using _ = desk;
  const offers = offersAt(desk);
  const client = clientWith(() => ({ action: 'accept' }));
  const first = offers.offer(signInRequiredError(signInId), client.refused);
  await vi.waitFor(() => expect(client.asked).toHaveLength(1));
  vi.advanceTimersByTime(10 * MINUTE);
  await expect(first).rejects.toMatchObject({
    code: 'UPSTREAM_NEEDS_AUTH',
    message: expect.stringMatching(
      /The link was not opened.*Make the call again, or run `trunkline login it`/,
    ),
  });
  const second = offers.offer(signInRequiredError(signInId), client.refused);
  second.catch(() => {});
  await vi.waitFor(() => expect(client.asked).toHaveLength(2));
  expect(client.asked[1]?.params['url']).not.toBe(client.asked[0]?.params['url']);
  expect(client.told).toEqual([]);
});

test('sign-in link: sends no completion notice when it expires', async () => {
  const { desk } = openDesk();
  await using _ = desk;
  const offers = offersAt(desk);
  const client = clientWith(undefined);
  const failed = await offers
    .offer(signInRequiredError(signInId), client.refused)
    .catch((error: unknown) => error);
  expect(failed).toMatchObject({ body: { code: -32042, data: { elicitations: [{ mode: 'url' }] } } });
  const offer = await desk.find(signInId);
  vi.advanceTimersByTime(10 * MINUTE);
  expect(await offer?.finished).toMatchObject({ state: 'failed' });
  const again = await offers
    .offer(signInRequiredError(signInId), client.refused)
    .catch((error: unknown) => error);
  expect(again).toMatchObject({ body: { code: -32042 } });
  expect(client.asked[1]?.params['url']).not.toBe(client.asked[0]?.params['url']);
  expect(client.told).toEqual([]);
});

test('sign-in link: is not offered again for five minutes after a decline', async () => {
  const { desk } = openDesk();
  await using _ = desk;
  const offers = offersAt(desk);
  const client = clientWith(() => ({ action: 'decline' }));
  const mend = (): Promise<boolean> => offers.offer(signInRequiredError(signInId), client.refused);
  expect(await mend()).toBe(false);
  vi.advanceTimersByTime(4.9 * MINUTE);
  expect(await mend()).toBe(false);
  expect(client.asked).toHaveLength(1);
  vi.advanceTimersByTime(0.2 * MINUTE);
  expect(await mend()).toBe(false);
  expect(client.asked).toHaveLength(2);
});
