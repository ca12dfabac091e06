import { describe, expect, test } from 'vitest';

import { deferred } from '../../core/lib/deferred.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { ResourceSubscriptions } from './resource-subscriptions.ts';

const files = { name: 'files' as UpstreamName, signedInAs: '' };

/** An upstream that accepts a subscription when the test resolves the answer. */
function fakeUpstream() {
  const requests: string[][] = [];
  const answers = [deferred<void>()];
  return {
    requests,
    answers,
    subscribe: (uris: ReadonlySet<string>): Promise<void> => {
      requests.push([...uris]);
      return answers.shift()?.promise ?? Promise.resolve();
    },
  };
}

describe('resource subscriptions', () => {
  test('subscription: subscribes upstream once for all listeners and unsubscribes after the last one', async () => {
    const server = fakeUpstream();
    server.answers[0]?.resolve();
    const subscriptions = new ResourceSubscriptions(() => server);
    const updates: string[] = [];
    const one = await subscriptions.add(files, 'a:1', () => updates.push('one'));
    const two = await subscriptions.add(files, 'a:1', () => updates.push('two'));
    expect(server.requests).toEqual([['a:1']]);
    subscriptions.notify(files, { uri: 'a:1' });
    expect(updates).toEqual(['one', 'two']);
    one[Symbol.dispose]();
    expect(server.requests).toHaveLength(1);
    two[Symbol.dispose]();
    expect(server.requests).toEqual([['a:1'], []]);
    subscriptions.notify(files, { uri: 'a:1' });
    expect(updates).toHaveLength(2);
  });

  test('subscription: rejects all pending subscribers when the upstream refuses, then tries again', async () => {
    const server = fakeUpstream();
    const refusal = server.answers[0];
    const subscriptions = new ResourceSubscriptions(() => server);
    const both = Promise.allSettled([
      subscriptions.add(files, 'a:1', () => {}),
      subscriptions.add(files, 'a:1', () => {}),
    ]);
    refusal?.reject(new Error('no'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await subscriptions.add(files, 'a:1', () => {});
    expect(server.requests.at(-1)).toEqual(['a:1']);
  });

  test('subscription: delivers updates per sign-in and renews each sign-in separately', async () => {
    const servers = { ada: fakeUpstream(), bob: fakeUpstream() };
    for (const { answers } of Object.values(servers)) answers[0]?.resolve();
    const subscriptions = new ResourceSubscriptions(
      ({ signedInAs }) => servers[signedInAs as keyof typeof servers],
    );
    const [ada, bob] = [
      { ...files, signedInAs: 'ada' },
      { ...files, signedInAs: 'bob' },
    ];
    const updates: string[] = [];
    await subscriptions.add(ada, 'a:1', () => updates.push('ada'));
    await subscriptions.add(bob, 'a:1', () => updates.push('bob'));
    subscriptions.notify(bob, { uri: 'a:1' });
    subscriptions.notify(files, { uri: 'a:1' });
    expect(updates).toEqual(['bob']);
    subscriptions.resubscribe(files.name);
    expect(servers.ada.requests).toEqual([['a:1'], ['a:1']]);
    expect(servers.bob.requests).toEqual([['a:1'], ['a:1']]);
  });
});
