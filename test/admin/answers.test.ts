import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';

import { signedIn } from '../support/browser.ts';
import type { Browser } from '../support/browser.ts';
import { fixture } from '../support/fixture.ts';
import { startGateway } from '../support/gateway.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly required: boolean }[];
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { schema: Schema }>> }>
  >;
}

const document = closed(
  JSON.parse(readFileSync(new URL('../../schema/openapi.json', import.meta.url), 'utf8')),
) as { readonly paths: Readonly<Record<string, { readonly get?: Operation }>> };
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema(document, 'api');

/** What is asked where something must be said. */
const VALUES: Readonly<Record<string, string>> = {
  name: 'files__echo',
  q: 'echo',
  kind: 'tool',
  key: 'anna',
};
/** Answered by others than us, never to an end, or only where all is well. */
const LEFT_OUT = [
  ...['/api/registry', '/api/servers/{name}/sign-in'],
  ...['/api/events', '/api/audit/events', '/api/lock'],
];

const gets = Object.entries(document.paths).flatMap(([path, { get }]) =>
  get === undefined || LEFT_OUT.includes(path) ? [] : [{ path, operation: get }],
);

test('every answer is what the document says, and nothing more', async () => {
  await using gateway = await startGateway({
    mcpServers: {
      files: fixture('plain'),
      held: { ...fixture('plain'), trust: 'manual' },
      broken: { command: 'there-is-no-such-program' },
      off: { ...fixture('plain'), enabled: false },
    },
    config: {
      auth: { keys: true },
      profiles: { reading: { description: 'Reads.', tiers: ['read'] } },
      policy: { rules: [{ id: 'sure', effect: 'ask', names: ['*write*'], message: 'Sure?' }] },
    },
    listen: 'http',
  });
  const browser = await signedIn(gateway);
  await used(browser);
  using log = await browser.events();
  expect(await wrongAnswers(browser, gets)).toEqual([]);
  expect(gets.length).toBeGreaterThan(25);
  await browser.fetch('POST', '/api/servers/files/restart', {});
  await browser.fetch('POST', '/api/keys/anna/revoke', {});
  await log.of('keys', ({ action }: { action: string }) => action === 'revoke');
  await log.of('tick');
  const told = log.events.map(({ event, data }) => ({ event, data: JSON.parse(data) as unknown }));
  expect(told.flatMap((event) => problemsOf('/api/events', 'text/event-stream', event))).toEqual([]);
  const refused = await browser.fetch('GET', '/api/describe?name=unheard-of');
  expect(refused.status).toBe(404);
  expect(problemsOf('/api/describe', 'application/json', refused.json, 'default')).toEqual([]);
});

test('a lockfile is described where every server can be listed', async () => {
  await using gateway = await startGateway({ mcpServers: { files: fixture('plain') }, listen: 'http' });
  const operation = document.paths['/api/lock']?.get;
  if (operation === undefined) throw new Error('It is not in the document.');
  expect(await wrongAnswers(await signedIn(gateway), [{ path: '/api/lock', operation }])).toEqual([]);
});

async function wrongAnswers(browser: Browser, asked: typeof gets): Promise<readonly unknown[]> {
  const wrong: unknown[] = [];
  for (const { path, operation } of asked) {
    const { status, json, text } = await browser.fetch('GET', addressOf(path, operation));
    const [type = ''] = Object.keys(operation.responses['200']?.content ?? {});
    const problems = type === 'application/json' ? problemsOf(path, type, json) : [];
    if (status !== 200 || problems.length > 0)
      wrong.push({ path, status, problems, text: text.slice(0, 500) });
  }
  return wrong;
}

/** So that there is something in every answer. */
async function used(browser: Browser): Promise<void> {
  await browser.fetch('POST', '/api/keys', { name: 'anna', profile: 'reading', tier: 'read' });
  await browser.fetch('POST', '/api/refresh', {});
  for (const args of [{ text: 'x' }, { wrong: 1 }])
    await browser.fetch('POST', '/api/call', { name: 'files__echo', args });
}

function addressOf(path: string, { parameters }: Operation): string {
  const query = parameters
    .filter(({ name, required }) => required && !path.includes(`{${name}}`))
    .map(({ name }) => `${name}=${encodeURIComponent(VALUES[name] ?? '')}`);
  // In paths a name is always that of a server.
  return `${path.replaceAll('{name}', 'files')}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

function problemsOf(path: string, type: string, value: unknown, status = '200'): readonly unknown[] {
  const place = ['paths', path, 'get', 'responses', status, 'content', type, 'schema'];
  const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
  const check = ajv.getSchema(`api#/${encodeURI(pointer)}`);
  if (check === undefined) return [`There is no schema for ${path}.`];
  return check(value) === true ? [] : (check.errors ?? []).slice(0, 5);
}

/** With every object as it is described: what the document leaves open for later is not there now. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closed(each)]));
  const isOpen = 'properties' in inner && !('additionalProperties' in inner) && inner['type'] === 'object';
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}
