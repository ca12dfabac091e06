import { expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import type { FixtureLog } from '../../support/fixture-log.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import {
  addKey,
  sendRequest,
  initializeBody,
  startGatewayWithAuth,
  listToolNamesAt,
} from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { withEnvelope, modernHeaders } from '../../support/modern-envelope.ts';
import type { JsonObject, Message, ToolResult } from '../../support/raw-messages.ts';
import { login, startProtectedServer } from '../../support/sign-in.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

/** A caller with a key and a legacy session. Its modern requests do not use the session. */
interface KeyHolder {
  readonly who: string;
  readonly key: string;
  readonly session: string;
}

test.each([
  ['all', 'legacy'],
  ['all', 'modern'],
  ['session', 'legacy'],
] as const)(
  'per-caller tokens: are sent only with calls of their own caller (share %s, %s)',
  { tags: ['slow'] },
  async (share, era) => {
    await using server = await startProtectedServer({ tokenTtl: 4 }, ['--era', era]);
    const home = temporaryFolder('home');
    const mcpServers = { it: { url: server.url, share, auth: { per: 'caller' } } };
    await using gateway = await startGatewayWithAuth({ auth: { keys: true } }, { mcpServers, home });
    const signIn = async (account: string, ...args: string[]): Promise<void> => {
      await server.control({ account });
      expect(await login(home, 'it', args)).toMatchObject({ code: 0 });
    };
    await signIn('operator');
    await signIn('ada', '--caller', 'key:ada');
    await signIn('bob', '--caller', 'key:bob');
    const [ada, bob, eve] = [
      await createKeyHolder(gateway, 'ada'),
      await createKeyHolder(gateway, 'bob'),
      await createKeyHolder(gateway, 'eve'),
    ];
    await eventually(async () => expect(await listToolNamesAt(gateway.url, ada)).toContain('it__whoami'), {
      withinMs: 10_000,
    });
    const wrong: string[] = [];
    let calls = 0;
    // All callers call at the same time, until the tokens of Ada and Bob have been refreshed.
    await eventually(
      async () => {
        const callers = Array.from({ length: 48 }, (_, at) => [ada, bob, bob, eve][at % 4] ?? ada);
        calls += callers.length;
        const answers = await Promise.all(callers.map((one, at) => whoami(gateway, one, at % 3 === 0)));
        for (const [at, answer] of answers.entries()) {
          const { who } = callers[at] ?? eve;
          const isRight = who === 'eve' ? isRefusal(answer) : textOf(answer).startsWith(`${who} `);
          if (!isRight) wrong.push(`${who}: ${JSON.stringify(answer)}`);
        }
        return wrong.length > 0 || ['ada', 'bob'].every((who) => countRefreshes(server.log, who) > 0);
      },
      { withinMs: 20_000 },
    );
    expect(wrong).toEqual([]);
    expect(calls).toBeGreaterThanOrEqual(48);
    expect(server.log.of('refresh-reused')).toEqual([]);
    expect(new Set(subjects(server.log))).toEqual(new Set([undefined, 'operator', 'ada', 'bob']));
    // No session at the server was ever used with the tokens of two callers.
    const bySession = subjectsBySession(server.log);
    expect(bySession.size > 0).toBe(era === 'legacy');
    for (const [session, who] of bySession) expect([session, who.size]).toEqual([session, 1]);
    // The command in the error message gives Eve access.
    await signIn('eve', '--caller', 'key:eve');
    await eventually(async () => expect(textOf(await whoami(gateway, eve, false))).toMatch(/^eve /));
  },
);

test.each(['/mcp', '/mcp/s/it'])(
  'per-caller tokens: are used for subscriptions at %s',
  { tags: ['slow'] },
  async (path) => {
    await using server = await startProtectedServer({}, ['--era', 'legacy']);
    const home = temporaryFolder('home');
    const mcpServers = { it: { url: server.url, auth: { per: 'caller' } } };
    await using gateway = await startGatewayWithAuth({ auth: { keys: true } }, { mcpServers, home });
    for (const [account, args] of [
      ['operator', []],
      ['ada', ['--caller', 'key:ada']],
    ] as const) {
      await server.control({ account });
      expect(await login(home, 'it', args)).toMatchObject({ code: 0 });
    }
    const url = new URL(path, gateway.url).href;
    const [ada, eve] = [
      await createKeyHolder(gateway, 'ada', url),
      await createKeyHolder(gateway, 'eve', url),
    ];
    const uri = await eventually(async () => {
      const { result } = await request({ url }, ada, 'resources/list', {});
      return (result?.['resources'] as { uri: string }[] | undefined)?.[0]?.uri ?? false;
    });
    const { error } = await request({ url }, eve, 'resources/subscribe', { uri });
    expect(error?.message).toContain('`trunkline login it --caller key:eve`');
    expect(server.log.of('subscribe')).toEqual([]);
    expect(await request({ url }, ada, 'resources/subscribe', { uri })).toMatchObject({ result: {} });
    const bySession = subjectsBySession(server.log);
    const subscribed = server.log.of('subscribe').map(({ link }) => [...(bySession.get(String(link)) ?? [])]);
    expect(subscribed).toEqual([['ada']]);
  },
);

async function createKeyHolder(gateway: RunningGateway, who: string, url = gateway.url): Promise<KeyHolder> {
  const key = await addKey(gateway, who);
  const { headers } = await sendRequest(url, { key, body: initializeBody });
  return { who, key, session: String(headers['mcp-session-id']) };
}

async function whoami({ url }: RunningGateway, one: KeyHolder, isModern: boolean): Promise<ToolResult> {
  const params = { name: 'it__whoami', arguments: {} };
  const { result } = await request({ url, isModern }, one, 'tools/call', params);
  return result as ToolResult;
}

async function request(
  { url, isModern = false }: { readonly url: string; readonly isModern?: boolean },
  { key, session }: KeyHolder,
  method: string,
  given: JsonObject,
): Promise<Message> {
  const params = isModern ? withEnvelope(given, {}) : given;
  const headers = {
    accept: 'application/json, text/event-stream',
    ...(isModern ? modernHeaders(method, params) : { 'mcp-session-id': session }),
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method, params });
  const { text } = await sendRequest(url, { key, headers, body });
  return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? text)) as Message;
}

function textOf(result: ToolResult): string {
  return result.content?.[0]?.text ?? JSON.stringify(result);
}

function isRefusal(result: ToolResult): boolean {
  return (
    result._meta?.['trunkline/code'] === 'UPSTREAM_NEEDS_AUTH' &&
    textOf(result).includes('`trunkline login it --caller key:eve`')
  );
}

interface Post {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

function posts(log: FixtureLog): readonly Post[] {
  return log.of('http').filter(({ url }) => url === '/mcp') as unknown as Post[];
}

/** Returns the subject of the token of a request. */
function subjectOf({ headers }: Post): string | undefined {
  const payload = headers['authorization']?.split('.')[1];
  if (payload === undefined) return undefined;
  return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string }).sub;
}

function subjects(log: FixtureLog): readonly (string | undefined)[] {
  return posts(log).map(subjectOf);
}

function subjectsBySession(log: FixtureLog): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  const found = new Map<string, Set<string | undefined>>();
  for (const post of posts(log)) {
    const session = post.headers['mcp-session-id'];
    if (session === undefined) continue;
    found.set(session, (found.get(session) ?? new Set()).add(subjectOf(post)));
  }
  return found;
}

function countRefreshes(log: FixtureLog, who: string): number {
  const families = new Set(
    log.of('issued').flatMap(({ subject, family }) => (subject === who ? [family] : [])),
  );
  return log.of('refresh').filter(({ family }) => families.has(family)).length;
}
