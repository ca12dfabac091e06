import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { SignInDesk } from '../../src/auth/upstream/sign-in-desk.ts';
import { needsSignIn } from '../../src/auth/upstream/needs-sign-in.ts';
import { SignInOffers } from '../../src/downstream/sign-in-offers.ts';
import { Cancellation } from '../../src/lib/cancellation.ts';
import { deferred } from '../../src/lib/deferred.ts';
import type { Caller } from '../../src/model/caller.ts';
import { RpcError } from '../../src/model/errors.ts';
import type { UpstreamName } from '../../src/model/ids.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { checkLeaks } from '../support/leak-check.ts';

checkLeaks();

const MINUTE = 60_000;
const place = { upstream: 'it' as UpstreamName, caller: '' };
const caller: Caller = { id: 'local', via: 'stdio', profile: 'default' };

// Sockets and everything else go on; only the timers of what is waited for stand still until they are moved.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A desk whose sign-ins end when the test says so. */
function openDesk() {
  const signedIn = deferred<{ account: string }>();
  const desk = new SignInDesk((_place, { open, signal }) => {
    signal.addEventListener('abort', () => signedIn.reject(signal.reason as Error), { once: true });
    void open(new URL('https://issuer.example/authorize'));
    return signedIn.promise;
  });
  signedIn.promise.catch(() => {});
  return { desk, signedIn };
}

test('a link that nobody opens is dead after ten minutes, and the next one is another', async () => {
  const { desk } = openDesk();
  await using _ = desk;
  const first = await desk.begin(place);
  vi.advanceTimersByTime(9.9 * MINUTE);
  expect(first.state.state).toBe('offered');
  expect((await fetch(new URL('/elsewhere', first.state.url))).status).toBe(404);
  expect(await desk.begin(place)).toBe(first);
  vi.advanceTimersByTime(0.2 * MINUTE);
  expect(await first.finished).toMatchObject({
    state: 'failed',
    problem: 'Nobody opened the link within 10 minutes. Nothing was saved; try again.',
  });
  await expect(fetch(first.state.url)).rejects.toThrow();
  const second = await desk.begin(place);
  expect(second.state.state).toBe('offered');
  expect(second.state.url).not.toBe(first.state.url);
});

test('one that was opened in time goes on after its ten minutes', async () => {
  const { desk, signedIn } = openDesk();
  await using _ = desk;
  const offer = await desk.begin(place);
  vi.advanceTimersByTime(9 * MINUTE);
  expect((await fetch(offer.state.url, { redirect: 'manual' })).status).toBe(303);
  vi.advanceTimersByTime(30 * MINUTE);
  expect(offer.state.state).toBe('open');
  signedIn.resolve({ account: 'ada' });
  expect(await offer.finished).toMatchObject({ state: 'done', account: 'ada' });
});

test('one that is cancelled while somebody is at it ends the sign-in behind it', async () => {
  const { desk, signedIn } = openDesk();
  await using _ = desk;
  const offer = await desk.begin(place);
  await fetch(offer.state.url, { redirect: 'manual' });
  const reason = new Error('Enough.');
  await offer.end(reason);
  await expect(signedIn.promise).rejects.toBe(reason);
  expect(await offer.finished).toMatchObject({ state: 'failed', problem: 'Enough.' });
});

interface Asked {
  readonly params: JsonObject;
}

/** What a client is asked, which answers as told; `undefined` is a client that cannot be asked during a call. */
function clientWith(answer: (() => JsonObject) | undefined) {
  const asked: Asked[] = [];
  const told: string[] = [];
  const behind = {
    capabilities: { elicitation: { url: {} } },
    ask: (_method: string, params: JsonObject): Promise<JsonObject> => {
      asked.push({ params });
      if (answer === undefined)
        return Promise.reject(new RpcError({ code: -32601, message: 'There is no way to ask.' }));
      return Promise.resolve(answer());
    },
    tell: (method: string): void => void told.push(method),
  };
  // Of what a call has, only this is looked at.
  const request = { session: 'one', behind, cancellation: new Cancellation() } as never;
  return { asked, told, refused: { caller, era: 'legacy' as const, request } };
}

function offersAt(desk: SignInDesk): SignInOffers {
  return new SignInOffers({ begin: () => desk.begin(place), isHere: () => true, now: () => Date.now() });
}

test('a client that said yes and never opened the link hears it, and gets another with the next call', async () => {
  const { desk } = openDesk();
  await using _ = desk;
  const offers = offersAt(desk);
  const client = clientWith(() => ({ action: 'accept' }));
  const first = offers.mend(needsSignIn(place), client.refused);
  await vi.waitFor(() => expect(client.asked).toHaveLength(1));
  vi.advanceTimersByTime(10 * MINUTE);
  await expect(first).rejects.toMatchObject({
    code: 'UPSTREAM_NEEDS_AUTH',
    message: expect.stringMatching(/call it again, or run `trunkline login it`\. Nobody opened the link/),
  });
  const second = offers.mend(needsSignIn(place), client.refused);
  second.catch(() => {});
  await vi.waitFor(() => expect(client.asked).toHaveLength(2));
  expect(client.asked[1]?.params['url']).not.toBe(client.asked[0]?.params['url']);
  expect(client.told).toEqual([]);
});

test('a link that was given as an error is not said to be done when it expired', async () => {
  const { desk } = openDesk();
  await using _ = desk;
  const offers = offersAt(desk);
  const client = clientWith(undefined);
  const failed = await offers.mend(needsSignIn(place), client.refused).catch((error: unknown) => error);
  expect(failed).toMatchObject({ body: { code: -32042, data: { elicitations: [{ mode: 'url' }] } } });
  const offer = await desk.at(place);
  vi.advanceTimersByTime(10 * MINUTE);
  expect(await offer?.finished).toMatchObject({ state: 'failed' });
  const again = await offers.mend(needsSignIn(place), client.refused).catch((error: unknown) => error);
  expect(again).toMatchObject({ body: { code: -32042 } });
  expect(client.asked[1]?.params['url']).not.toBe(client.asked[0]?.params['url']);
  expect(client.told).toEqual([]);
});

test('who said no is left in peace for five minutes, and then asked again', async () => {
  const { desk } = openDesk();
  await using _ = desk;
  const offers = offersAt(desk);
  const client = clientWith(() => ({ action: 'decline' }));
  const mend = (): Promise<boolean> => offers.mend(needsSignIn(place), client.refused);
  expect(await mend()).toBe(false);
  vi.advanceTimersByTime(4.9 * MINUTE);
  expect(await mend()).toBe(false);
  expect(client.asked).toHaveLength(1);
  vi.advanceTimersByTime(0.2 * MINUTE);
  expect(await mend()).toBe(false);
  expect(client.asked).toHaveLength(2);
});
