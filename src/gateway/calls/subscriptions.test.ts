import { describe, expect, test } from 'vitest';

import { deferred } from '../../lib/deferred.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { Subscriptions } from './subscriptions.ts';

const files = { name: 'files' as UpstreamName, signedInAs: '' };

/** An upstream that agrees when it is told to. */
function upstream() {
  const asked: string[][] = [];
  const answers = [deferred<void>()];
  return {
    asked,
    answers,
    subscribe: (uris: ReadonlySet<string>): Promise<void> => {
      asked.push([...uris]);
      return answers.shift()?.promise ?? Promise.resolve();
    },
  };
}

describe('subscriptions to resources', () => {
  test('ask the upstream once however many listen, and again only when the last one leaves', async () => {
    const server = upstream();
    server.answers[0]?.resolve();
    const subscriptions = new Subscriptions(() => server);
    const heard: string[] = [];
    const one = await subscriptions.add(files, 'a:1', () => heard.push('one'));
    const two = await subscriptions.add(files, 'a:1', () => heard.push('two'));
    expect(server.asked).toEqual([['a:1']]);
    subscriptions.updated(files, { uri: 'a:1' });
    expect(heard).toEqual(['one', 'two']);
    one[Symbol.dispose]();
    expect(server.asked).toHaveLength(1);
    two[Symbol.dispose]();
    expect(server.asked).toEqual([['a:1'], []]);
    subscriptions.updated(files, { uri: 'a:1' });
    expect(heard).toHaveLength(2);
  });

  test('tell everybody who waits when the upstream refuses, and ask anew afterwards', async () => {
    const server = upstream();
    const refusal = server.answers[0];
    const subscriptions = new Subscriptions(() => server);
    const both = Promise.allSettled([
      subscriptions.add(files, 'a:1', () => {}),
      subscriptions.add(files, 'a:1', () => {}),
    ]);
    refusal?.reject(new Error('no'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await subscriptions.add(files, 'a:1', () => {});
    expect(server.asked.at(-1)).toEqual(['a:1']);
  });

  test('of one sign-in hear nothing of what is said to another, and each is told anew by itself', async () => {
    const servers = { ada: upstream(), bob: upstream() };
    for (const { answers } of Object.values(servers)) answers[0]?.resolve();
    const subscriptions = new Subscriptions(({ signedInAs }) => servers[signedInAs as keyof typeof servers]);
    const [ada, bob] = [
      { ...files, signedInAs: 'ada' },
      { ...files, signedInAs: 'bob' },
    ];
    const heard: string[] = [];
    await subscriptions.add(ada, 'a:1', () => heard.push('ada'));
    await subscriptions.add(bob, 'a:1', () => heard.push('bob'));
    subscriptions.updated(bob, { uri: 'a:1' });
    subscriptions.updated(files, { uri: 'a:1' });
    expect(heard).toEqual(['bob']);
    subscriptions.renew(files.name);
    expect(servers.ada.asked).toEqual([['a:1'], ['a:1']]);
    expect(servers.bob.asked).toEqual([['a:1'], ['a:1']]);
  });
});
