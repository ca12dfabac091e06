import { beforeAll, describe, expect, test } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, startHttpFixture } from '../../support/fixture.ts';
import { addKey, sendRequest, initializeBody } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import type { ToolResult } from '../../support/raw-messages.ts';
import { startFleet } from './fleet.ts';
import type { RunningFleet } from './fleet.ts';
import { shortWait } from './short-wait.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

interface Asked {
  readonly session?: string;
  readonly key?: string;
  readonly method?: string;
}

/** Sends one request to one gateway, which need not be the one that opened the session. */
function at(fleet: RunningFleet, replica: number, body: object | undefined, asked: Asked = {}) {
  const { session, key, method } = asked;
  return sendRequest(fleet.replicas[replica]?.url ?? '', {
    ...(body && { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
    ...(session !== undefined && { headers: { 'mcp-session-id': session } }),
    ...(key !== undefined && { key }),
    ...(method !== undefined && { method }),
  });
}

async function openedAt(fleet: RunningFleet, replica: number, key?: string): Promise<string> {
  const body = JSON.parse(initializeBody) as object;
  const { headers } = await at(fleet, replica, body, { ...(key !== undefined && { key }) });
  return String(headers['mcp-session-id']);
}

const list = { id: 2, method: 'tools/list', params: {} };
describe('legacy session', () => {
  test('legacy session: works at every gateway and survives their restarts', async () => {
    await using fleet = await startFleet(3, { mcpServers: { plain: fixture('plain') } });
    const client = await fleet.client();
    await client.request('logging/setLevel', { level: 'error' });
    const use = async (round: string): Promise<void> => {
      const from = fleet.balancer.served.length;
      for (const n of [1, 2, 3]) {
        expect((await client.listTools()).map(({ name }) => name)).toContain('plain__echo');
        expect(textOfResult(await client.callTool('plain__echo', { text: `${round} ${n}` }))).toBe(
          `${round} ${n}`,
        );
      }
      expect(new Set(fleet.balancer.served.slice(from))).toEqual(new Set([0, 1, 2]));
    };
    await use('first');
    for (const replica of [0, 1, 2]) {
      await fleet.restart(replica);
      await use(`after ${replica}`);
    }
  });

  test('legacy session: belongs to its caller, rejects a changed id and ends on all gateways', async () => {
    await using fleet = await startFleet(3, {
      mcpServers: { plain: fixture('plain') },
      config: { auth: { keys: true } },
    });
    const [one] = fleet.replicas;
    if (one === undefined) throw new Error('There is none.');
    const [anna, bert] = [await addKey(one, 'anna'), await addKey(one, 'bert')];
    await eventually(async () => (await at(fleet, 2, list, { key: bert })).status === 400);
    const session = await openedAt(fleet, 0, anna);
    expect(session).toMatch(/^[\w.-]+$/);
    for (const replica of [0, 1, 2]) {
      expect((await at(fleet, replica, list, { session, key: bert })).status).toBe(404);
      const changed = session.slice(0, -3) + (session.at(-3) === 'A' ? 'B' : 'A') + session.slice(-2);
      expect((await at(fleet, replica, list, { session: changed, key: anna })).status).toBe(404);
      expect((await at(fleet, replica, list, { session })).status).toBe(401);
      expect((await at(fleet, replica, list, { session, key: anna })).status).toBe(200);
    }
    expect((await at(fleet, 1, undefined, { session, key: anna, method: 'DELETE' })).status).toBe(204);
    expect((await at(fleet, 1, list, { session, key: anna })).status).toBe(404);
    for (const replica of [0, 2])
      await eventually(
        async () => (await at(fleet, replica, list, { session, key: anna })).status === 404,
        shortWait,
      );
    await fleet.restart(1);
    expect((await at(fleet, 1, list, { session, key: anna })).status).toBe(404);
  });

  test('legacy session: accepts the answer to a server request at another gateway', async () => {
    await using fleet = await startFleet(3, { mcpServers: { it: fixture('asks-the-user') } });
    const client = await fleet.client({ capabilities: { elicitation: {}, sampling: {}, roots: {} } });
    client.answers('elicitation/create', () => ({ action: 'accept', content: { name: 'Anna' } }));
    for (const mark of ['a', 'b', 'c']) {
      const from = fleet.balancer.served.length;
      const answer = textOfResult(await client.callTool('it__ask-form', { mark }));
      expect(JSON.parse(answer)).toMatchObject({ mark, answers: [{ name: { content: { name: 'Anna' } } }] });
      // The call and the answer to its question went to different gateways.
      const [called, answered] = fleet.balancer.served.slice(from);
      expect(called).not.toBe(answered);
    }
  });

  test('legacy session: cancels a call that another gateway runs', async () => {
    await using plain = await startHttpFixture('plain');
    await using fleet = await startFleet(2, { mcpServers: { plain: { url: plain.url } } });
    const client = await fleet.client();
    const abort = new AbortController();
    const call = client.callTool('plain__slow', { ms: 60_000, text: 'x' }, { signal: abort.signal });
    call.catch(() => {});
    await eventually(() => plain.log.of('call').length === 1);
    const from = fleet.balancer.served.length;
    abort.abort();
    await eventually(() => plain.log.of('cancelled').length === 1);
    expect(fleet.balancer.served[from]).not.toBe(fleet.balancer.served[from - 1]);
  });
});

describe('parked call of a modern client', () => {
  const capabilities = { elicitation: {} };
  const question = (mark: string) => ({ name: 'it__ask-form', arguments: { mark } });
  const inputResponses = { 'question-1': { action: 'accept', content: { name: 'Anna' } } };

  test('parked call: continues at any gateway', async () => {
    await using fleet = await startFleet(3, {
      mcpServers: { it: fixture('asks-the-user', '--era', 'legacy') },
    });
    const client = await fleet.client({ era: 'modern', capabilities });
    for (const mark of ['a', 'b', 'c']) {
      const asked = await client.request('tools/call', question(mark));
      expect(asked).toMatchObject({ resultType: 'input_required' });
      const { requestState } = asked;
      const answer = await client.request('tools/call', { ...question(mark), inputResponses, requestState });
      expect(textOfResult(answer as unknown as ToolResult)).toContain(`"mark":"${mark}"`);
      // The call has finished, so no gateway accepts its state again.
      const again = client.request('tools/call', { ...question(mark), inputResponses, requestState });
      await expect(again).rejects.toThrow('requestState');
    }
  });

  test.each([
    { how: 'is gone', signal: 'SIGKILL' },
    { how: 'is silent', signal: 'SIGSTOP' },
  ] as const)('parked call: fails with REPLICA_AWAY when its gateway $how', async ({ signal }) => {
    await using fleet = await startFleet(2, {
      mcpServers: { it: fixture('asks-the-user', '--era', 'legacy') },
    });
    const client = await fleet.client({ era: 'modern', capabilities });
    const { requestState } = await client.request('tools/call', question('a'));
    const owner = fleet.replicas[fleet.balancer.served.at(-1) ?? 0];
    owner?.signal(signal);
    if (signal === 'SIGKILL') await owner?.exited;
    const answer = await client.request(
      'tools/call',
      { ...question('a'), inputResponses, requestState },
      { withinMs: 60_000 },
    );
    owner?.signal('SIGCONT');
    expect(answer).toMatchObject({ isError: true, _meta: { 'trunkline/code': 'REPLICA_AWAY' } });
  });
});
