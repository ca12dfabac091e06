import { afterEach, beforeAll, describe, expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import type { FixtureLog } from '../../support/fixture-log.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import { runCommandFor } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { isRunning, runningProcesses } from '../../support/processes.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { type RunningFleet, startFleet } from './fleet.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const patience = { withinMs: 40_000 };
const slow = { withinMs: 40_000 };

/** Returns the config entry of a server that runs once in the fleet, and its log. */
function sharedFixture(...options: Parameters<typeof fixture>) {
  const entry = { ...fixture(...options), share: 'fleet' };
  return { entry, log: fixtureLog(entry) };
}

/** Returns the ids of the running processes of a server. */
function running(log: FixtureLog): readonly number[] {
  return log.of('started').flatMap(({ pid }) => (isRunning(pid) ? [pid] : []));
}

/** Returns the replica that owns the server, its index, and the other replicas. */
function findOwner(fleet: RunningFleet, log: FixtureLog) {
  const [pid] = running(log);
  const parent = runningProcesses().find((process) => process.pid === pid)?.parent;
  const at = fleet.replicas.findIndex((replica) => replica.pid === parent);
  const owner = fleet.replicas[at];
  if (owner === undefined) throw new Error('No replica runs the server.');
  return { at, owner, others: fleet.replicas.filter((_, index) => index !== at) };
}

async function callEcho(client: RawClient, text: string, name = 'plain__echo'): Promise<string> {
  return textOfResult(await client.callTool(name, { text }, slow));
}

/** Returns how often each text reached the server. */
function countCalls(log: FixtureLog): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { arguments: given } of log.of('call')) {
    const { text = '' } = given as { text?: string };
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

describe('fleet share', () => {
  const clients: RawClient[] = [];
  const openClient = async (replica: RunningGateway | undefined, options = {}): Promise<RawClient> => {
    if (replica === undefined) throw new Error('There is no such replica.');
    const client = await replica.client(options);
    clients.push(client);
    return client;
  };
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
  });
  /** Calls the server through a client of each replica; returns all clients, the owner, and the other replicas with their clients. */
  const useServer = async (fleet: RunningFleet, log: FixtureLog) => {
    const all = await Promise.all(fleet.replicas.map((replica) => openClient(replica)));
    for (const client of all) expect(await callEcho(client, 'before')).toBe('before');
    const { at: index, owner, others: otherReplicas } = findOwner(fleet, log);
    return { all, index, owner, otherReplicas, others: all.filter((_, n) => n !== index) };
  };

  test('fleet share: runs one process for the calls of all replicas', async () => {
    const { entry, log } = sharedFixture('plain');
    await using fleet = await startFleet(3, { mcpServers: { plain: entry } });
    const all = await Promise.all(fleet.replicas.map((replica) => openClient(replica)));
    const texts = all.flatMap((_, client) => Array.from({ length: 20 }, (__, n) => `${client}/${n}`));
    const answers = await Promise.all(texts.map((text, n) => callEcho(all[n % 3]!, text)));
    expect(answers).toEqual(texts);
    expect(log.of('started')).toHaveLength(1);
    expect([...countCalls(log).values()]).toEqual(texts.map(() => 1));
    for (const client of all) {
      const big = await client.callTool('plain__big', { bytes: 300_000 }, slow);
      expect(JSON.stringify(big).length).toBeGreaterThan(300_000);
      const failed = client.callTool('plain__rpc-error', {}, slow);
      await expect(failed).rejects.toMatchObject({ code: expect.any(Number) as number });
      expect(gatewayErrorCode(await client.callTool('plain__fail', {}, slow))).toBeUndefined();
    }
    expect(log.violations()).toEqual([]);
  });

  test.each(['legacy', 'modern'] as const)(
    'fleet share: routes messages of a %s server to the right client of any replica',
    async (era) => {
      const { entry, log } = sharedFixture('talks-to-all', '--era', era);
      await using fleet = await startFleet(3, { mcpServers: { all: entry } });
      const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
      const participants = await Promise.all(
        fleet.replicas.map(async (replica, n) => {
          const client = await openClient(replica, { capabilities });
          const who = `client-${n}`;
          client.answers('elicitation/create', ({ message }) => {
            // The replica of the client names the server, and the one that runs it does not.
            expect(message).toMatch(/^Server "all" asks:\n> (?!Server)/);
            return { action: 'accept', content: { name: who } };
          });
          client.answers('sampling/createMessage', () => ({
            role: 'assistant',
            model: 'm',
            content: {
              type: 'text',
              text: who,
            },
          }));
          client.answers('roots/list', () => ({ roots: [{ uri: `file:///${who}` }] }));
          await client.request('logging/setLevel', { level: 'debug' }, slow);
          return { who, client };
        }),
      );
      for (const { who, client } of participants) {
        const meta = { progressToken: `of ${who}` };
        const talked = await client.callTool('all__talk', { who, steps: 3 }, { meta, ...slow });
        expect(textOfResult(talked)).toBe(`for ${who}`);
        const told = client.notifications.all.filter(({ method }) => method === 'notifications/progress');
        expect(told.map(({ params }) => params['progressToken'])).toEqual([1, 2, 3].map(() => `of ${who}`));
        const logs = client.notifications.all.filter(({ method }) => method === 'notifications/message');
        expect(logs, 'log messages').toHaveLength(3);
      }
      // After the first question of a legacy server, its calls run one after the other, so each question can be assigned to a call.
      const [one] = participants;
      expect(textOfResult(await one!.client.callTool('all__ask', { who: one!.who }, slow))).toContain(
        'client-0',
      );
      const calls = participants.map(({ who, client }) => client.callTool('all__ask', { who }, slow));
      for (const [n, answer] of (await Promise.all(calls)).entries()) {
        const text = textOfResult(answer);
        expect(text).toContain(`"name":"client-${n}"`);
        for (const other of [0, 1, 2]) if (other !== n) expect(text).not.toContain(`client-${other}`);
      }
      for (const { who, client } of participants) {
        const abort = new AbortController();
        const waiting = client.callTool('all__wait', { who }, { signal: abort.signal, ...slow });
        const ended = waiting.catch(String);
        await log.waitFor(
          (one) =>
            one.event === 'call' && JSON.stringify(one['arguments']).includes(who) && one['tool'] === 'wait',
        );
        abort.abort();
        expect(await ended).toContain('cancelled');
        await log.waitFor((one) => one.event === 'gave-up' && one['who'] === who);
      }
      const [first, second, third] = participants.map(({ client }) => client);
      await first!.listen(['news:///1']);
      await second!.listen(['news:///2']);
      await third!.listen(['news:///1']);
      await third!.callTool('all__touch', { uri: 'news:///1' }, slow);
      const updated = (client: RawClient): readonly unknown[] =>
        client.notifications.all.flatMap(({ method, params }) =>
          method === 'notifications/resources/updated' ? params['uri'] : [],
        );
      await eventually(() =>
        expect([first, third].map((one) => updated(one!))).toEqual([['news:///1'], ['news:///1']]),
      );
      // The end of one subscription does not end the others.
      await first!.request('resources/unsubscribe', { uri: 'news:///1' }, slow);
      await second!.callTool('all__touch', { uri: 'news:///1' }, slow);
      await eventually(() => expect(updated(third!)).toHaveLength(2));
      expect(updated(first!)).toHaveLength(1);
      expect(updated(second!)).toEqual([]);
      expect(log.of('started')).toHaveLength(1);
      expect(log.violations()).toEqual([]);
    },
  );

  test('fleet share: restarts through any replica and applies list changes to all', async () => {
    const [{ entry, log }, it] = [sharedFixture('plain'), sharedFixture('changes-a-definition')];
    await using fleet = await startFleet(2, { mcpServers: { plain: entry, it: it.entry } });
    const { all, otherReplicas } = await useServer(fleet, log);
    const [first] = running(log);
    const [other] = otherReplicas;
    const { code, stderr } = await runCommandFor(other!, 'restart', 'plain');
    expect(code, stderr).toBe(0);
    for (const client of all) expect(await callEcho(client, 'after')).toBe('after');
    expect(log.of('started')).toHaveLength(2);
    expect(isRunning(first!)).toBe(false);
    // A changed definition is held for approval, so it disappears from the lists of all replicas.
    const changed = all.map(async (client) => {
      await eventually(async () => {
        const tools = await client.listTools();
        expect(tools.map(({ name }) => name)).not.toContain('it__changing');
      }, patience);
    });
    await all[0]!.callTool('it__change', {}, slow);
    await Promise.all(changed);
    expect(it.log.of('started')).toHaveLength(1);
  });

  test('fleet share: moves when its owner is killed, and calls in flight fail without a repeat', async () => {
    const { entry, log } = sharedFixture('plain');
    await using fleet = await startFleet(3, { mcpServers: { plain: entry } });
    const { index, owner, others } = await useServer(fleet, log);
    const hanging = others.map((client, n) =>
      client.callTool('plain__slow', { ms: 60_000, text: `slow ${n}` }, slow),
    );
    await eventually(() => expect(log.of('call').filter(({ tool }) => tool === 'slow')).toHaveLength(2));
    await owner.kill();
    for (const answer of await Promise.all(hanging)) {
      expect(gatewayErrorCode(answer), textOfResult(answer)).toBe('UPSTREAM_CLOSED');
      expect(textOfResult(answer)).toContain('was not repeated');
    }
    expect(await Promise.all(others.map((client, n) => callEcho(client, `after ${n}`)))).toEqual([
      'after 0',
      'after 1',
    ]);
    expect(running(log)).toHaveLength(1);
    expect(log.of('started')).toHaveLength(2);
    const counts = countCalls(log);
    for (const text of ['slow 0', 'slow 1', 'after 0', 'after 1']) expect(counts.get(text), text).toBe(1);
    // The killed replica comes back and uses the server through its new owner.
    const returned = await openClient(await fleet.restart(index));
    expect(await callEcho(returned, 'again')).toBe('again');
    expect(log.of('started')).toHaveLength(2);
  });

  test('fleet share: has only its new owner after the old one was suspended', async () => {
    const { entry, log } = sharedFixture('plain');
    await using fleet = await startFleet(3, { mcpServers: { plain: entry } });
    const { all, index, owner, others } = await useServer(fleet, log);
    const [suspended] = running(log);
    owner.signal('SIGSTOP');
    // These requests stay in sockets that are not read until the owner continues.
    const late = all[index]!.callTool('plain__echo', { text: 'late' }, { withinMs: 90_000 });
    const sent = others.map((client, n) => client.callTool('plain__echo', { text: `sent ${n}` }, slow));
    for (const answer of await Promise.all(sent))
      expect(gatewayErrorCode(answer), textOfResult(answer)).toBe('UPSTREAM_CLOSED');
    expect(await Promise.all(others.map((client, n) => callEcho(client, `meanwhile ${n}`)))).toEqual([
      'meanwhile 0',
      'meanwhile 1',
    ]);
    const next = log.of('started').find(({ pid }) => pid !== suspended)?.pid;
    expect(log.of('started')).toHaveLength(2);
    owner.signal('SIGCONT');
    expect(textOfResult(await late)).toBe('late');
    await eventually(() => expect(running(log)).toEqual([next]), patience);
    const served = log.of('call').filter(({ arguments: given }) => JSON.stringify(given).includes('late'));
    expect(served.map(({ pid }) => pid)).toEqual([next]);
    const counts = countCalls(log);
    for (const text of ['meanwhile 0', 'meanwhile 1', 'late']) expect(counts.get(text), text).toBe(1);
    // These callers received UPSTREAM_CLOSED, and the former owner did not forward the requests after it continued.
    for (const text of ['sent 0', 'sent 1']) expect(counts.get(text), text).toBeUndefined();
  });

  test('fleet share: moves on a clean stop of its owner without failing a call', async () => {
    const { entry, log } = sharedFixture('plain');
    await using fleet = await startFleet(3, { mcpServers: { plain: entry } });
    const { owner, others } = await useServer(fleet, log);
    let isOver = false;
    const load = others.map(async (client, who) => {
      const said: string[] = [];
      for (let n = 0; !isOver; n++) said.push(await callEcho(client, `${who}/${n}`));
      return said;
    });
    await owner.stop();
    await eventually(() => expect(running(log)).toHaveLength(1), patience);
    const before = log.of('call').length;
    await eventually(() => expect(log.of('call').length).toBeGreaterThan(before + 5), patience);
    isOver = true;
    const counts = countCalls(log);
    for (const [who, answers] of (await Promise.all(load)).entries()) {
      expect(answers).toEqual(answers.map((_, n) => `${who}/${n}`));
      for (const text of answers) expect(counts.get(text) ?? 1, text).toBe(1);
    }
    expect(log.of('started')).toHaveLength(2);
  });
});
