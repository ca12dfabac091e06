import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';

import { openSignedInBrowser } from '../../support/dashboard-browser.ts';
import type { DashboardBrowser } from '../../support/dashboard-browser.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly required: boolean }[];
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { schema: Schema }>> }>
  >;
}

const document = forbidExtraProperties(
  JSON.parse(readFileSync(new URL('../../../schema/openapi.json', import.meta.url), 'utf8')),
) as { readonly paths: Readonly<Record<string, { readonly get?: Operation }>> };
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema(document, 'api');

/** Values of required query parameters. */
const VALUES: Readonly<Record<string, string>> = {
  name: 'files__echo',
  q: 'echo',
  kind: 'tool',
  key: 'anna',
};
/** Endpoints that depend on other services, never end, or need every server to be healthy. */
const EXCLUDED_PATHS = [
  '/api/registry',
  '/api/servers/{name}/sign-in',
  '/api/events',
  '/api/audit/events',
  '/api/lock',
];

const gets = Object.entries(document.paths).flatMap(([path, { get }]) =>
  get === undefined || EXCLUDED_PATHS.includes(path) ? [] : [{ path, operation: get }],
);

test(
  'admin API: responses, events and errors match openapi.json without extra fields',
  { tags: ['slow'] },
  async () => {
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
    const browser = await openSignedInBrowser(gateway);
    await createData(browser);
    using log = await browser.events();
    expect(await findMismatches(browser, gets)).toEqual([]);
    expect(gets.length).toBeGreaterThan(25);
    await browser.fetch('POST', '/api/servers/files/restart', {});
    await browser.fetch('POST', '/api/keys/anna/revoke', {});
    await log.of('keys', ({ action }: { action: string }) => action === 'revoke');
    await log.of('tick');
    const events = log.events.map(({ event, data }) => ({ event, data: JSON.parse(data) as unknown }));
    expect(events.flatMap((event) => problemsOf('/api/events', 'text/event-stream', event))).toEqual([]);
    const refused = await browser.fetch('GET', '/api/describe?name=unheard-of');
    expect(refused.status).toBe(404);
    expect(problemsOf('/api/describe', 'application/json', refused.json, 'default')).toEqual([]);
  },
);

test('admin API: GET /api/lock matches openapi.json when every server can be listed', async () => {
  await using gateway = await startGateway({ mcpServers: { files: fixture('plain') }, listen: 'http' });
  const operation = document.paths['/api/lock']?.get;
  if (operation === undefined) throw new Error('openapi.json does not describe GET /api/lock.');
  expect(
    await findMismatches(await openSignedInBrowser(gateway), [{ path: '/api/lock', operation }]),
  ).toEqual([]);
});

async function findMismatches(browser: DashboardBrowser, requests: typeof gets): Promise<readonly unknown[]> {
  const mismatches: unknown[] = [];
  for (const { path, operation } of requests) {
    const { status, json, text } = await browser.fetch('GET', urlOf(path, operation));
    const [type = ''] = Object.keys(operation.responses['200']?.content ?? {});
    const problems = type === 'application/json' ? problemsOf(path, type, json) : [];
    if (status !== 200 || problems.length > 0)
      mismatches.push({ path, status, problems, text: text.slice(0, 500) });
  }
  return mismatches;
}

/** Creates data, so that no response is empty. */
async function createData(browser: DashboardBrowser): Promise<void> {
  await browser.fetch('POST', '/api/keys', { name: 'anna', profile: 'reading', tier: 'read' });
  await browser.fetch('POST', '/api/refresh', {});
  for (const args of [{ text: 'x' }, { wrong: 1 }])
    await browser.fetch('POST', '/api/call', { name: 'files__echo', args });
}

function urlOf(path: string, { parameters }: Operation): string {
  const query = parameters
    .filter(({ name, required }) => required && !path.includes(`{${name}}`))
    .map(({ name }) => `${name}=${encodeURIComponent(VALUES[name] ?? '')}`);
  // In paths, `name` is always the name of a server.
  return `${path.replaceAll('{name}', 'files')}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

function problemsOf(path: string, type: string, value: unknown, status = '200'): readonly unknown[] {
  const segments = ['paths', path, 'get', 'responses', status, 'content', type, 'schema'];
  const pointer = segments.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
  const check = ajv.getSchema(`api#/${encodeURI(pointer)}`);
  if (check === undefined) return [`There is no schema for ${path}.`];
  return check(value) === true ? [] : (check.errors ?? []).slice(0, 5);
}

/** Forbids undocumented properties in every object schema. */
function forbidExtraProperties(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(forbidExtraProperties);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, forbidExtraProperties(member)]),
  );
  const isOpen = 'properties' in inner && !('additionalProperties' in inner) && inner['type'] === 'object';
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}
