import { expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import type { FixtureLog } from '../../support/fixture-log.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { login, openSignedInGateway, startProtectedServer } from '../../support/sign-in.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const paths = ['/mcp', '/team/mcp'];

test.each([
  ['named in the challenge', {}],
  ['at the well-known paths', { prmInChallenge: false }],
])(
  'same-origin servers: have separate sign-ins, with metadata %s',
  { tags: ['slow'] },
  async (_where, behaviour) => {
    await using server = await startProtectedServer({ ...behaviour, paths, tokenTtl: 4 });
    const home = temporaryFolder('home');
    const [first, second] = paths.map((path) => new URL(path, server.url).href) as [string, string];
    const mcpServers = { first: { url: first }, second: { url: second } };
    await using gateway = await startGateway({ mcpServers, home, listen: 'http' });
    const client = await gateway.client();
    await eventually(() => {
      for (const name of ['first', 'second']) expect(gateway.stderr()).toContain(`trunkline login ${name}`);
    });
    await server.control({ account: 'ada' });
    expect((await login(home, 'first')).code).toBe(0);
    await waitForTool(client, 'first__whoami');
    // A sign-in to one server is not valid for the other.
    const refused = await client.callTool('second__whoami');
    expect(gatewayErrorCode(refused)).toBe('UPSTREAM_NEEDS_AUTH');
    expect(textOfResult(refused)).toContain('trunkline login second');
    expect(audiencesAt(server.log, '/team/mcp')).toEqual(new Set([undefined]));
    await server.control({ account: 'bob' });
    expect((await login(home, 'second')).code).toBe(0);
    await waitForTool(client, 'second__whoami');
    await eventually(
      async () => {
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            client.callTool(`${at % 2 === 0 ? 'first' : 'second'}__whoami`),
          ),
        );
        for (const [at, answer] of answers.entries())
          expect(textOfResult(answer)).toMatch(at % 2 === 0 ? /^ada / : /^bob /);
        return new Set(server.log.of('refresh').map(({ family }) => family)).size === 2;
      },
      { withinMs: 20_000, what: 'The renewal of both tokens' },
    );
    await client.close();
    expect(audiencesAt(server.log, '/mcp')).toEqual(new Set([undefined, first]));
    expect(audiencesAt(server.log, '/team/mcp')).toEqual(new Set([undefined, second]));
    expect(server.log.of('unauthorized').filter(({ why }) => String(why).includes('aud'))).toEqual([]);
    const asked = server.log.of('authorize') as unknown as { asked: { resource: string } }[];
    expect(asked.map((one) => one.asked.resource)).toEqual([first, second]);
    // Discovery kept the path and the port: the first well-known URL already had the metadata.
    const wellKnown = server.log.of('http').filter(({ url }) => String(url).includes('/.well-known/'));
    expect(wellKnown.map(({ url }) => url)).toEqual(
      paths.map((path) => `/.well-known/oauth-protected-resource${path}`),
    );
    const { issuer } = await server.control({});
    expect(new Set(server.log.of('as').map(({ host }) => host))).toEqual(new Set([new URL(issuer).host]));
  },
);

test('same-origin servers: are rejected when one names the other as its resource', async () => {
  await using server = await startProtectedServer({ paths });
  await server.control({ prmResource: server.url });
  const home = temporaryFolder('home');
  const url = new URL('/team/mcp', server.url).href;
  await using gateway = await startGateway({ mcpServers: { second: { url } }, home, listen: 'http' });
  const { code, stderr } = await login(home, 'second');
  expect(code).not.toBe(0);
  expect(stderr).toContain(`${url} declares the resource "${server.url}"`);
  expect(server.log.of('authorize')).toEqual([]);
  expect(gateway.stderr()).not.toContain('Signed in');
});

test(
  'issuer change: requires a new sign-in and sends no old credentials to the new issuer',
  { tags: ['slow'] },
  async () => {
    await using line = await openSignedInGateway();
    const { server, client, home } = line;
    expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
    const before = await server.control({});
    const { issuer } = await server.control({ act: 'migrate', account: 'new@example.com' });
    expect(issuer).not.toBe(before.issuer);
    for (let call = 0; call < 3; call += 1) {
      const answer = await client.callTool('it__whoami');
      expect(gatewayErrorCode(answer)).toBe('UPSTREAM_NEEDS_AUTH');
      expect(textOfResult(answer)).toContain('trunkline login it');
    }
    // The old issuer received one refresh request; the new one received none.
    expect(server.log.of('refresh').map((one) => one['issuer'])).toEqual([before.issuer]);
    expect(askedAt(server.log, issuer)).toEqual([]);
    const refused = server.log.of('unauthorized').length;
    await client.callTool('it__whoami');
    expect(server.log.of('unauthorized').length).toBe(refused);
    expect((await login(home, 'it', ['--timeout', '10'])).code).toBe(0);
    await eventually(async () =>
      expect(textOfResult(await client.callTool('it__whoami'))).toContain('new@example.com'),
    );
    // The client registered with the new issuer and used a new code; nothing from the old issuer was sent there.
    const clients = server.log.of('issued').map((one) => one['client']);
    expect(server.log.of('register')).toHaveLength(2);
    expect(clients.at(-1)).not.toBe(clients[0]);
    expect(server.log.of('refused')).toEqual([]);
    expect(server.log.of('refresh').map((one) => one['issuer'])).toEqual([before.issuer]);
    expect(askedAt(server.log, issuer)).toEqual([
      'GET /.well-known/oauth-authorization-server',
      'POST /register',
      'GET /authorize',
      'POST /token',
    ]);
  },
);

/** Returns the audiences of the tokens that reached a path. */
function audiencesAt(log: FixtureLog, path: string): ReadonlySet<string | undefined> {
  const posts = log.of('http').filter(({ url }) => url === path);
  return new Set(
    posts.map(({ headers }) => {
      const payload = (headers as Record<string, string>)['authorization']?.split('.')[1];
      if (payload === undefined) return undefined;
      return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { aud: string }).aud;
    }),
  );
}

function askedAt(log: FixtureLog, issuer: string): readonly string[] {
  const { host } = new URL(issuer);
  return log
    .of('as')
    .flatMap((one) => (one['host'] === host ? [`${String(one['method'])} ${String(one['path'])}`] : []));
}
