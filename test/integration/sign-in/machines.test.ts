import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { signInWithDevice } from '../../../src/auth/upstream/device-sign-in.ts';
import type { DevicePrompt } from '../../../src/auth/upstream/device-sign-in.ts';
import { signOut } from '../../../src/auth/upstream/sign-out.ts';
import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import {
  DEFAULT_AUTH,
  openSignInHarness,
  rejectedRequest,
  startProtectedServer,
} from '../../support/sign-in.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

test.each(['client_secret_basic', 'client_secret_post'])(
  'client credentials: authenticate with %s',
  async (method) => {
    await using server = await startProtectedServer({ authMethods: [method], challengeScope: 'nightly' });
    await server.control({ client: { client_id: 'machine', client_secret: 'shh' } });
    const auth = { flow: 'client-credentials', clientId: 'machine', clientSecret: '${env:SHH}' };
    await using gateway = await startGateway({
      mcpServers: { it: { url: server.url, auth } },
      env: { SHH: 'shh' },
      listen: 'http',
    });
    const client = await gateway.client();
    await waitForTool(client, 'it__whoami');
    expect(textOfResult(await client.callTool('it__whoami'))).toMatch(/^machine /);
    expect(server.log.of('client-authentication')).toEqual([
      expect.objectContaining({ method, id: 'machine' }),
    ]);
    expect(server.log.of('token')[0]).toMatchObject({ scope: 'nightly', resource: server.url });
    await client.close();
  },
);

test(
  'client credentials: authenticate with a private key and renew an expired token',
  { tags: ['slow'] },
  async () => {
    await using server = await startProtectedServer({ tokenTtl: 3 });
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = publicKey.export({ type: 'spki', format: 'pem' });
    await server.control({ client: { client_id: 'machine', public_key: pem, alg: 'ES256' } });
    const home = temporaryFolder('home');
    writeFileSync(join(home, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const auth = { flow: 'client-credentials', clientId: 'machine', privateKey: '${file:key.pem}' };
    await using gateway = await startGateway({
      mcpServers: { it: { url: server.url, auth } },
      home,
      listen: 'http',
    });
    const client = await gateway.client();
    await waitForTool(client, 'it__whoami');
    const first = textOfResult(await client.callTool('it__whoami'));
    await eventually(() => server.log.of('issued').every(({ at }) => Date.now() - at > 3100), {
      what: 'The expiry of every token',
    });
    const second = textOfResult(await client.callTool('it__whoami'));
    const ofMachine = expect.stringMatching(/^machine /);
    expect([first, second]).toEqual([ofMachine, ofMachine]);
    expect(first).not.toBe(second);
    expect(new Set(server.log.of('client-authentication').map(({ method }) => method))).toEqual(
      new Set(['private_key_jwt']),
    );
    await client.close();
  },
);

test('client credentials: renew a rejected token once for all calls', async () => {
  await using server = await startProtectedServer();
  await server.control({ client: { client_id: 'machine', client_secret: 'secret' } });
  const auth = { flow: 'client-credentials', clientId: 'machine', clientSecret: 'secret' };
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url, auth } }, listen: 'http' });
  const client = await gateway.client();
  await waitForTool(client, 'it__whoami');
  const issued = server.log.of('issued').length;
  // From now on every issued token is invalid, even before it expires.
  await server.control({ act: 'rotate-keys' });
  const answers = await Promise.all([1, 2, 3].map(() => client.callTool('it__whoami')));
  for (const answer of answers) expect(textOfResult(answer)).toMatch(/^machine /);
  expect(server.log.of('issued')).toHaveLength(issued + 1);
  await client.close();
});

test('client credentials: report the server error for a wrong secret', async () => {
  await using server = await startProtectedServer();
  await server.control({ client: { client_id: 'machine', client_secret: 'right' } });
  await using desk = openSignInHarness(server.url);
  const auth = { flow: 'client-credentials', clientId: 'machine', clientSecret: 'wrong' } as const;
  const verdict = await desk.credentials({ auth }).handleRefusal(rejectedRequest());
  expect(verdict).toMatchObject({
    code: 'UPSTREAM_NEEDS_AUTH',
    message: expect.stringMatching(/The client secret is wrong\. \(invalid_client\)/),
  });
});

test('device flow: signs in with a browser on another machine', async () => {
  await using server = await startProtectedServer({ challengeScope: 'read' });
  await using desk = openSignInHarness(server.url);
  const prompts: DevicePrompt[] = [];
  const tokens = await signInWithDevice({
    ...target(desk),
    show: (prompt) => {
      prompts.push(prompt);
      void fetch(prompt.complete ?? '');
    },
  });
  expect(prompts[0]?.code).toMatch(/^[0-9A-F]{8}$/);
  expect(tokens).toMatchObject({ flow: 'device', scope: 'read', resource: server.url });
  expect(await desk.credentials().headers()).toHaveProperty('Authorization');
});

test('device flow: polls at the interval of the server, and 5 seconds slower after slow_down', async () => {
  await using server = await startProtectedServer({ deviceInterval: 2, deviceSlowDown: true });
  await using desk = openSignInHarness(server.url);
  let complete = '';
  const sleeps: number[] = [];
  const polls = (): number => server.log.of('token').length;
  await signInWithDevice({
    ...target(desk),
    show: (prompt) => (complete = prompt.complete ?? ''),
    sleep: async (ms) => {
      // One poll after each pause: first slow_down, then authorization_pending.
      expect(polls()).toBe(sleeps.length);
      sleeps.push(ms);
      if (sleeps.length === 3) await fetch(complete);
    },
  });
  expect(sleeps).toEqual([2000, 7000, 7000]);
  expect(polls()).toBe(3);
});

test('device flow: fails when the person declines', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const show = ({ complete }: DevicePrompt): void => void fetch(`${complete}&deny`);
  await expect(signInWithDevice({ ...target(desk), show })).rejects.toThrow(
    'The person said no. (access_denied)',
  );
  expect(await desk.vault.load(desk.signInId)).toBeUndefined();
});

test('device flow: suggests a browser when the server does not support it', async () => {
  await using server = await startProtectedServer({ device: false });
  await using desk = openSignInHarness(server.url);
  await expect(signInWithDevice({ ...target(desk), show: () => {} })).rejects.toThrow(/without `--device`/);
});

test('sign-out: deletes and revokes the tokens', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  await desk.signIn();
  const credentials = desk.credentials();
  await credentials.headers();
  expect(await signOut(target(desk))).toBe('revoked');
  expect(server.log.of('revoke')).toEqual([expect.objectContaining({ isKnown: true })]);
  expect(await desk.vault.load(desk.signInId)).toBeUndefined();
  // A gateway that still has the tokens in memory must not refresh them after the sign-out.
  expect(await credentials.handleRefusal(rejectedRequest())).toMatchObject({ code: 'UPSTREAM_NEEDS_AUTH' });
  expect(server.log.of('refresh')).toEqual([]);
  expect(await signOut(target(desk))).toBe('not-signed-in');
});

function target(desk: ReturnType<typeof openSignInHarness>) {
  const { signInId, url, vault } = desk;
  return { signInId, url, auth: DEFAULT_AUTH, vault, now: Date.now, signal: new AbortController().signal };
}
