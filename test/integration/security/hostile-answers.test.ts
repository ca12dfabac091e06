import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';

import { SignJWT, generateKeyPair } from 'jose';
import { expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import { ATTACKS, startHostileAnswers } from '../../support/hostile-answers.ts';
import type { Attack, HostileAnswers } from '../../support/hostile-answers.ts';
import { initializeBody, runCommandFor, sendRequest } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const MEBIBYTE = 1024 * 1024;
/** An attack on one surface may take this much. Keeping the chunks of single bytes took more than twice as much. */
const MAX_GROWTH = 150 * MEBIBYTE;
const SURFACES = {
  resource: ['resource', 'authorization_servers'],
  metadata: ['issuer', 'token_endpoint'],
  token: ['expires_in', 'scope'],
  registration: ['client_id', 'client_secret'],
} as const;
type Surface = keyof typeof SURFACES;

test.each(['resource', 'metadata', 'token'] as const)(
  'hostile sign-in: the %s answer ends within its limits, whatever it contains, and the gateway keeps serving',
  async (surface) => {
    await using server = await startSignIn(surface);
    const mcpServers = Object.fromEntries(ATTACKS.map((attack) => [nameOf(attack), entryOf(server, attack)]));
    await using gateway = await startGateway({ mcpServers, listen: 'http' });
    const before = peakOf(gateway);
    await eventually(async () => {
      expect((await sendRequest(new URL('/healthz', gateway.url))).status).toBe(200);
      expect(server.started()).toBeGreaterThanOrEqual(ATTACKS.length);
      expect(server.open()).toBe(0);
    });
    await eventually(async () => {
      const { stdout } = await runCommandFor(gateway, 'servers');
      expect(stdout).not.toContain('call stack');
      for (const attack of ATTACKS) expect(stdout).toMatch(new RegExp(`${nameOf(attack)} .*sign`));
    });
    expect(peakOf(gateway) - before).toBeLessThan(MAX_GROWTH);
    expect(gateway.stderr()).not.toContain('INVARIANT');
    expect(
      Math.max(
        ...gateway
          .stderr()
          .split('\n')
          .map(({ length }) => length),
      ),
    ).toBeLessThan(4000);
  },
);

test('hostile sign-in: the registration answer ends within its limits, whatever it contains', async () => {
  await using server = await startSignIn('registration');
  const mcpServers = Object.fromEntries(
    ATTACKS.map((attack) => [nameOf(attack), { url: `${server.origin}/${nameOf(attack)}/mcp` }]),
  );
  await using gateway = await startGateway({ mcpServers, listen: 'http' });
  // A huge client id is a valid one, so that the sign-in would continue in the browser.
  for (const attack of ATTACKS.filter((other) => other !== 'huge JSON')) {
    const { code, stderr } = await runCommandFor(gateway, 'login', nameOf(attack));
    expect(`${attack}: ${code} ${stderr}`).toMatch(/: [1-9]\d* .*(registered|more than 524288 bytes)/s);
    expect(stderr.length).toBeLessThan(4000);
  }
  expect(server.started()).toBe(ATTACKS.length - 1);
  await eventually(() => expect(server.open()).toBe(0));
});

test.each(ATTACKS)(
  'hostile issuer keys: the gateway refuses tokens and keeps serving after %s',
  async (kind) => {
    await using issuer = await startHostileAnswers(
      (request, response, attack) => {
        const origin = `http://${request.headers.host ?? ''}`;
        if (request.url === '/keys') attack(kind);
        else sendJson(response, { issuer: origin, jwks_uri: `${origin}/keys` });
      },
      ['keys'],
    );
    const { privateKey } = await generateKeyPair('ES256');
    const key = await new SignJWT({ sub: 'anna', iss: issuer.origin, aud: 'a' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setExpirationTime('5m')
      .sign(privateKey);
    const config = { auth: { jwt: { issuer: issuer.origin, audience: 'a' } } };
    await using gateway = await startGateway({ mcpServers: {}, listen: 'http', config });
    const before = peakOf(gateway);
    const refused = sendRequest(gateway.url, { key, body: initializeBody });
    await eventually(() => expect(issuer.started()).toBe(1));
    expect((await sendRequest(new URL('/healthz', gateway.url))).status).toBe(200);
    expect([401, 503]).toContain((await refused).status);
    await eventually(() => expect(issuer.open()).toBe(0));
    expect(peakOf(gateway) - before).toBeLessThan(MAX_GROWTH);
  },
);

test.each(ATTACKS)('hostile registry: a search ends and says why after %s', async (kind) => {
  await using registry = await startHostileAnswers(
    (_request, _response, attack) => attack(kind),
    ['servers'],
  );
  await using gateway = await startGateway({ mcpServers: {}, listen: 'http' });
  const { code, stderr } = await runCommandFor(
    gateway,
    'registry',
    'search',
    'x',
    '--registry',
    `${registry.origin}/v0`,
  );
  expect(`${kind}: ${code} ${stderr}`).toMatch(/: (4 .*The registry at|0 )/s);
  expect(stderr.length).toBeLessThan(4000);
  await eventually(() => expect(registry.open()).toBe(0));
});

test(
  'slow answers: sign-in, keys and registry end at their timeouts when they send a byte per second',
  { tags: ['slow'] },
  async () => {
    const slow = 'a byte per second';
    await using signIn = await startSignIn('metadata');
    await using other = await startHostileAnswers((_request, _response, attack) => attack(slow));
    const config = {
      auth: { jwt: { issuer: other.origin, audience: 'a', jwksUrl: `${other.origin}/keys` } },
    };
    const mcpServers = { slow: entryOf(signIn, slow) };
    await using gateway = await startGateway({ mcpServers, listen: 'http', config });
    const search = runCommandFor(gateway, 'registry', 'search', 'x', '--registry', `${other.origin}/v0`);
    const { privateKey } = await generateKeyPair('ES256');
    const key = await new SignJWT({ sub: 'anna', iss: other.origin, aud: 'a' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setExpirationTime('5m')
      .sign(privateKey);
    expect((await sendRequest(gateway.url, { key, body: initializeBody })).status).toBe(503);
    expect((await sendRequest(new URL('/healthz', gateway.url))).status).toBe(200);
    expect(await search).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('no response within 20 s') as string,
    });
    await eventually(() => expect(other.open()).toBe(0));
    // The gateway tries to sign in again and again, and each attempt ends.
    await eventually(() => expect(signIn.started()).toBeGreaterThan(1), { withinMs: 40_000 });
    expect(signIn.open()).toBeLessThanOrEqual(1);
  },
);

function nameOf(attack: Attack): string {
  return attack.replaceAll(' ', '-');
}

function entryOf(server: HostileAnswers, attack: Attack): object {
  const auth = { flow: 'client-credentials', clientId: 'c', clientSecret: 's' };
  return { url: `${server.origin}/${nameOf(attack)}/mcp`, auth };
}

/** Starts an MCP server that wants a sign-in, with an authorization server; the path says which attack the surface answers with. */
function startSignIn(surface: Surface): Promise<HostileAnswers> {
  return startHostileAnswers((request, response, attack) => {
    const { origin, pathname } = new URL(request.url ?? '', `http://${request.headers.host ?? ''}`);
    const kind = ([...ATTACKS, 'a byte per second'] as const).find((other) =>
      pathname.includes(nameOf(other)),
    );
    const base = `${origin}/${nameOf(kind ?? 'deep JSON')}`;
    const answers: Readonly<Record<string, [Surface, object]>> = {
      'oauth-protected-resource': ['resource', { resource: `${base}/mcp`, authorization_servers: [base] }],
      'oauth-authorization-server': [
        'metadata',
        {
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          registration_endpoint: `${base}/register`,
          code_challenge_methods_supported: ['S256'],
        },
      ],
      token: ['token', { access_token: 't', token_type: 'Bearer' }],
      register: ['registration', { client_id: 'c' }],
    };
    request.resume();
    const [, answer] = Object.entries(answers).find(([part]) => pathname.includes(part)) ?? [];
    if (answer === undefined)
      response.writeHead(401, { 'www-authenticate': 'Bearer', 'content-length': 0 }).end();
    else if (answer[0] === surface && kind !== undefined) attack(kind);
    else sendJson(response, answer[1]);
  }, SURFACES[surface]);
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Returns the largest resident size that the gateway has had. */
function peakOf(gateway: RunningGateway): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
