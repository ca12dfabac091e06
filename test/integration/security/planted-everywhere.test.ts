import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { commandHome } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { type HttpFixture, startHttpFixture } from '../../support/fixture.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { addKey, sendRequest, listToolNamesAt } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import {
  readFilesBelow,
  findSecrets,
  secretEnv,
  createHomeWithSecrets,
  serversWithSecrets,
  RECOGNISABLE_SECRETS,
  RECOGNISABLE_TEXT,
} from '../../support/planted-secrets.ts';
import { RawClient } from '../../support/raw-client.ts';
import { httpTransport } from '../../support/raw-transports.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

type Texts = [string, string][];

const COMMANDS = [
  ['status'],
  ['servers'],
  ['doctor'],
  ['logs'],
  ['logs', '--export', 'jsonl'],
  ['logs', '--export', 'csv'],
  ['stats'],
  ['tools'],
  ['approvals'],
  ['keys', 'list'],
  ['why', 'dead__echo'],
  ['audit', 'verify'],
];

function options(http: HttpFixture, home: string): GatewayOptions {
  const config = {
    audit: { arguments: true, results: true, chain: true },
    log: { level: 'debug' },
    startup: { listWait: '5s' },
  };
  return { mcpServers: serversWithSecrets(http.url), config, home, env: secretEnv, listen: 'http' };
}

/** Makes calls that succeed, fail or are invalid, and collects the gateway's own responses. */
async function use(client: RawClient, prefix: string, heard: Texts): Promise<void> {
  const keep = (answer: unknown): void => void heard.push(['an error', JSON.stringify(answer) ?? '']);
  for (const server of prefix === '' ? [''] : ['plain__', 'web__'])
    await client.callTool(`${server}echo`, { text: RECOGNISABLE_TEXT, password: RECOGNISABLE_SECRETS.pem });
  if (prefix !== '')
    for (const server of ['dead__', 'away__'])
      keep(await client.callTool(`${server}echo`, { text: RECOGNISABLE_TEXT }).catch(String));
  const failures = [
    client.callTool(`${prefix}fail`, { text: RECOGNISABLE_TEXT }),
    client.callTool(`plain__${RECOGNISABLE_SECRETS.github}`, {}),
    client.request('prompts/get', { name: RECOGNISABLE_SECRETS.anthropic }),
    client.request('resources/read', {
      uri: `fixture://${RECOGNISABLE_SECRETS.github}@nowhere?key=${RECOGNISABLE_SECRETS.jwt}`,
    }),
    client.request('resources/subscribe', {
      uri: `fixture://${RECOGNISABLE_SECRETS.github}@nowhere?key=${RECOGNISABLE_SECRETS.jwt}`,
    }),
    client.request(`vendor/${RECOGNISABLE_SECRETS.github}`, { text: RECOGNISABLE_TEXT }),
  ];
  // A response may repeat a value that the client itself sent.
  await Promise.allSettled(failures);
}

/** Runs the commands in a shell with the secrets, which it brings to the gateway. */
async function commands(gateway: Pick<RunningGateway, 'home' | 'configFile'>, texts: Texts): Promise<void> {
  const { run } = commandHome();
  const env = { ...secretEnv, TRUNKLINE_HOME: gateway.home };
  for (const words of COMMANDS)
    for (const form of ['--json', '--text']) {
      if (words.includes('--export') && form === '--json') continue;
      const { stdout, stderr } = await run(['--config', gateway.configFile, ...words, form], { env });
      texts.push([words.join(' '), stdout + stderr]);
    }
}

/** Every read-only route of the admin API, from its contracts. */
function readingRoutes(): readonly string[] {
  const folder = fileURLToPath(new URL('../../../src/admin/contract/', import.meta.url));
  const contracts = readdirSync(folder).filter((name) => name.endsWith('contract.ts'));
  const text = contracts.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  const named = [...text.matchAll(/'GET (\/api\/[^']+)'/g)].map(([, path = '']) => path);
  return [...new Set([...named, '/api/audit/export', '/api/audit/events'])];
}

async function adminAnswers(gateway: RunningGateway, key: string, texts: Texts): Promise<number> {
  let answered = 0;
  for (const route of readingRoutes())
    for (const server of route.includes(':name') ? ['plain', 'dead', 'web', 'away'] : ['']) {
      const url = new URL(route.replace(':name', server), gateway.url);
      for (const [name, value] of Object.entries({
        name: 'plain__echo',
        q: 'echo',
        kind: 'tool',
        after: '0',
      }))
        url.searchParams.set(name, value);
      const { status, text } = await firstOf(url, key);
      if (status === 200) answered++;
      texts.push([`GET ${route}`, text]);
    }
  return answered;
}

/** Returns the whole response, or the part of a stream that is available at once. */
function firstOf(url: URL, key: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { agent: false, headers: { authorization: `Bearer ${key}` } });
    asking.on('error', reject).on('response', (response) => {
      let text = '';
      const over = (): void => resolve({ status: response.statusCode ?? 0, text });
      const isStream = String(response.headers['content-type']).startsWith('text/event-stream');
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (!isStream || (url.pathname.includes('audit') && !chunk.includes('data:'))) return;
        over();
        asking.destroy();
      });
      response.on('error', () => {}).on('end', over);
    });
    asking.end();
  });
}

test(
  'planted secrets: appear in no HTTP response, command output, log or state file',
  { tags: ['slow'] },
  async () => {
    await using http = await startHttpFixture('plain');
    const home = createHomeWithSecrets();
    const texts: Texts = [];
    const given = options(http, home);
    await using gateway = await startGateway({
      ...given,
      config: { ...given.config, auth: { keys: true }, metrics: true },
    });
    const key = await addKey(gateway, 'anna');
    // Another process makes the change, and the gateway notices it shortly after.
    await eventually(async () => (await listToolNamesAt(gateway.url, { key })) !== 401);
    const admin = readFileSync(join(home, 'state', 'run', 'admin.key'), 'utf8').trim();
    for (const [path, prefix] of [
      ['', 'plain__'],
      ['/s/plain', ''],
    ] as const) {
      const transport = httpTransport(`${gateway.url}${path}`);
      const send: typeof transport.send = (text, how) =>
        transport.send(text, { ...how, headers: { ...how.headers, authorization: `Bearer ${key}` } });
      await using client = await RawClient.over({ ...transport, send, close: async () => {} }, {});
      await client.open();
      await waitForTool(client, `${prefix}echo`);
      await use(client, prefix, texts);
      await transport.close();
    }
    const wrong = await sendRequest(gateway.url, { key: RECOGNISABLE_SECRETS.anthropic, body: '{}' });
    texts.push(['a refusal', wrong.text + JSON.stringify(wrong.headers)]);
    expect(await adminAnswers(gateway, admin, texts)).toBeGreaterThanOrEqual(20);
    texts.push(['/metrics', (await sendRequest(new URL('/metrics', gateway.url), { key })).text]);
    await commands(gateway, texts);
    await gateway[Symbol.asyncDispose]();
    const all = [...texts, ['stderr', gateway.stderr()] as const, ...readFilesBelow(home)];
    expect(all.map(([, text]) => text).join('\n')).toContain('[redacted]');
    expect(findSecrets(all, { key, admin })).toEqual([]);
  },
);

test(
  'planted secrets: appear in no log, state file or command output of a background gateway',
  { tags: ['slow'] },
  async () => {
    await using http = await startHttpFixture('plain');
    const home = createHomeWithSecrets();
    const { mcpServers, config = {} } = options(http, home);
    const texts: Texts = [];
    {
      await using shared = new SharedHome({ mcpServers, config, home });
      // The gateway starts without the variables, and a second client brings them.
      await (await shared.pipe()).client();
      const pipe = await shared.pipe({ env: secretEnv });
      const client = await pipe.client();
      await waitForTool(client, 'plain__echo');
      await use(client, 'plain__', texts);
      await commands(pipe, texts);
      texts.push(['the pipe', pipe.stderr()]);
    }
    const all = [...texts, ...readFilesBelow(home)];
    expect(all.map(([where]) => where)).toContain('gateway.log');
    expect(findSecrets(all)).toEqual([]);
  },
);

test.each(['an exception', 'a rejection', 'SIGABRT'] as const)(
  'planted secrets: appear nowhere when the gateway ends by %s',
  async (how) => {
    await using http = await startHttpFixture('plain');
    const home = createHomeWithSecrets();
    const guard = join(home, 'guard.mjs');
    const failure =
      how === 'a rejection' ? 'void Promise.reject(error)' : 'setImmediate(() => { throw error; })';
    writeFileSync(
      guard,
      `export default function breaks(call, next) {
        const error = new Error('broke with ' + call.arguments.text + ' and ' + process.env.PLANTED);
        // Simulates a failure of the gateway itself: a failure of a guard does not end the gateway.
        error.stack = error.stack.replaceAll('?trunkline-guard=', '?');
        error.arguments = call.arguments;
        error.cause = new Error(process.env.MY_SECRET_TOKEN);
        ${failure};
        return next();
      }`,
    );
    const given = options(http, home);
    const config = { ...given.config, ...(how !== 'SIGABRT' && { guards: [guard] }) };
    await using gateway = await startGateway({ ...given, config });
    const client = await gateway.client();
    await waitForTool(client, 'plain__echo');
    const call = client.callTool('plain__echo', { text: RECOGNISABLE_TEXT }).catch(String);
    if (how === 'SIGABRT') {
      await call;
      gateway.signal('SIGABRT');
    }
    const { code, signal } = await gateway.exited;
    expect([code, signal]).toEqual(how === 'SIGABRT' ? [null, 'SIGABRT'] : [1, null]);
    await call;
    await client.close().catch(() => {});
    if (how !== 'SIGABRT')
      await eventually(() => gateway.stderr().includes('The program ends because of an internal error.'));
    expect(findSecrets([['stderr', gateway.stderr()], ...readFilesBelow(home)])).toEqual([]);
    // The next gateway would remove what a crash leaves there.
    rmSync(join(home, 'state', 'run'), { recursive: true });
  },
);
