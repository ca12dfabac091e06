import { randomBytes } from 'node:crypto';

import { beforeAll, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { measureEventLoopDelay } from '../../support/event-loop-delay.ts';
import {
  addKey,
  runCommandFor,
  plainServer,
  startGatewayWithAuth,
  listToolNamesAt,
} from '../../support/http-requests.ts';
import { needs } from '../../support/needs.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { queryPostgres } from '../../support/query-postgres.ts';

needs('postgresql');

beforeAll(async () => void (await sharedPostgres()), 90_000);

const ESCAPE = '\u001b[2J\u001b]0;x\u0007';
const SQL = "'; drop table approvals; --";
const FAR = Number.MAX_SAFE_INTEGER;
const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
const huge = 'x'.repeat(5_000_000);
const bodies = ['not JSON', 'null', '[]', '{"__proto__":{"polluted":1}}', deep, huge, ESCAPE];

/** Writes rows into every table, as somebody could who can write the database but has no key. */
async function plantRows(url: string): Promise<void> {
  const [{ fingerprint }] = (await queryPostgres(
    url,
    "select fingerprint from listings where upstream = 'plain'",
    [],
  )) as [{ fingerprint: string }];
  const [{ key_check: keyCheck }] = (await queryPostgres(url, 'select key_check from replicas', [])) as [
    { key_check: string },
  ];
  const plant = (table: string, row: Readonly<Record<string, unknown>>): Promise<unknown> =>
    queryPostgres(
      url,
      `insert into ${table} (${Object.keys(row).join(', ')}) values (${Object.keys(row)
        .map((_, at) => `$${at + 1}`)
        .join(', ')}) on conflict do nothing`,
      Object.values(row),
    );
  for (const [at, body] of bodies.entries()) {
    const id = `planted-${at}`;
    await plant('caller_keys', { id, name: `k${at}`, hash: '0'.repeat(64), body, created_at: 1 });
    await plant('client_registrations', { id: `tlc_${id}`, body, created_at: 1, agreed_at: FAR });
    await plant('client_steps', { id, kind: 'code', body, expires_at: FAR });
    await plant('sessions', { id, body, revision: 1000 + at, expires_at: FAR });
    await plant('kept_results', { id: `r_${id}`, owner: 'x', body, bytes: -1, expires_at: FAR });
    await plant('runtime_servers', { name: `${id}${ESCAPE}`, body, changed_at: 1 });
    await plant('sign_ins', { upstream: 'plain', caller: id, issuer: SQL, body, saved_at: FAR });
    await plant('sign_in_notes', { upstream: 'plain', caller: id, body, noted_at: FAR });
    await plant('oauth_clients', { issuer: `https://${id}`, upstream: 'plain', body, saved_at: 1 });
    await plant('listings', { upstream: `${id}${ESCAPE}`, fingerprint, listed_at: FAR, body });
    for (const name of ['echo', SQL, ESCAPE, '__proto__'])
      for (const state of ['approved', 'refused', 'x'])
        await plant('approvals', {
          upstream: at % 2 === 0 ? 'plain' : '__proto__',
          kind: at === 0 ? 'tool' : 'prompt',
          name: `${name}${at}`,
          state,
          fingerprint: ESCAPE,
          definition: at === 0 ? deep : body,
          decided_at: FAR,
          decided_by: ESCAPE,
        });
    await plant('task_owners', { task: id, upstream: '__proto__', owner: ESCAPE, expires_at: FAR });
    await plant('browser_sessions', { hash: id, created_at: FAR, used_at: FAR });
    await plant('session_streams', { session: id, replica: SQL, opened_at: FAR });
  }
  for (const address of ['127.0.0.1:1', '192.0.2.1:7333', SQL, ESCAPE, huge])
    await plant('replicas', {
      id: randomBytes(4).toString('hex'),
      address,
      version: ESCAPE,
      key_check: keyCheck,
      seen_at: Date.now() + 4000,
    });
  await plant('ownerships', { name: `plain ${fingerprint}`, owner: SQL, epoch: FAR, until: FAR });
  await plant('shares', { name: 'x', replica: ESCAPE, share: -1e9, wanted: FAR, until: FAR });
  const common = {
    kind: 'tool',
    caller: ESCAPE,
    via: 'http',
    profile: 'default',
    outcome: 'ok',
    server: SQL,
    entry: ESCAPE,
  };
  const now = Date.now();
  await plant('audit_commons', { id: 900, last_seq: 903, first_at: now, last_at: FAR, ...common });
  const records = [
    '{"a":1}',
    '"text"',
    '["r",null,"x",{},[],true,1e300,null,"y"]',
    `["r",null,1,1,1,1,1,null,1,${JSON.stringify(huge)}]`,
  ];
  for (const [at, body] of records.entries())
    await plant('audit_records', { seq: 900 + at, at: at === 0 ? FAR : now, common: 900, body });
  // Two other tools of the server look changed, so that people are shown the difference to what was planted.
  const names = (await queryPostgres(
    url,
    "select name from approvals where upstream = 'plain' and kind = 'tool' and name <> 'echo' and decided_at < $1 order by name",
    [FAR],
  )) as readonly { readonly name: string }[];
  for (const [at, definition] of [deep, JSON.stringify({ description: `${ESCAPE}${huge}` })].entries())
    await queryPostgres(
      url,
      "update approvals set fingerprint = 'x', definition = $1 where upstream = 'plain' and name = $2",
      [definition, names[at]?.name],
    );
  await queryPostgres(url, 'update changes set revision = revision + 1', []);
}

test(
  'planted rows: two gateways keep serving, start again, and show no escape sequence',
  { tags: ['slow'] },
  async () => {
    const { url } = await (await sharedPostgres()).newSchema();
    const storage = { url, key: '${env:TRUNKLINE_KEY}' };
    const config = { startup: { listWait: '60s' }, storage, auth: { keys: true } };
    const env = { TRUNKLINE_KEY: randomBytes(32).toString('base64') };
    const options = { mcpServers: { plain: plainServer }, env };
    const one = await startGatewayWithAuth(config, options);
    await using _one = one;
    const key = await addKey(one, 'anna');
    await eventually(async () => expect(await listToolNamesAt(one.url, { key })).toContain('plain__echo'));
    await eventually(async () => {
      const rows =
        "select 1 from listings join approvals on approvals.upstream = listings.upstream where kind = 'tool'";
      expect((await queryPostgres(url, rows)).length).toBeGreaterThan(2);
    });
    await plantRows(url);
    const other = await startGatewayWithAuth(config, options);
    await using _other = other;
    for (const gateway of [one, other]) {
      await eventually(async () =>
        expect(await listToolNamesAt(gateway.url, { key })).toContain('plain__echo'),
      );
      await using delay = await measureEventLoopDelay(gateway);
      for (const words of [
        ['status'],
        ['servers'],
        ['keys', 'list'],
        ['approvals'],
        ['approvals', '--full'],
        ['logs', '--limit', '5'],
        ['logs', '--export', 'jsonl'],
        ['audit', 'verify'],
        ['stats'],
      ]) {
        const { code, stdout, stderr } = await runCommandFor(gateway, ...words);
        expect(`${words.join(' ')}: ${code} ${stderr.slice(0, 500)}`).toMatch(/: 0 /);
        expect(stdout + stderr).not.toContain('\u001b[2J');
      }
      expect(await delay.longestMs()).toBeLessThan(1500);
    }
    expect((await runCommandFor(other, 'keys', 'revoke', 'anna')).code).toBe(0);
    await eventually(async () => expect(await listToolNamesAt(one.url, { key })).toBe(401));
  },
);
