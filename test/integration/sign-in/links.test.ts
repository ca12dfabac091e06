import { expect, test } from 'vitest';

import { rpcErrorOf, gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { SharedHome } from '../../support/shared-home.ts';
import { startProtectedServer, followRedirects } from '../../support/sign-in.ts';

checkLeaks();

const capabilities = { elicitation: { url: {}, form: {} } };

/** The link that a client shows to its user. */
interface Link {
  readonly mode: string;
  readonly url: string;
  readonly message: string;
  readonly elicitationId?: string;
}

function linkIn(params: unknown): Link {
  return params as Link;
}

test.each(['http', 'stdio'] as const)(
  'sign-in link: is shown to a legacy client over %s, and the call continues after sign-in',
  async (listen) => {
    await using server = await startProtectedServer();
    await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen });
    const client = await gateway.client({ capabilities });
    const pages: string[] = [];
    client.answers('elicitation/create', async (params) => {
      pages.push((await followRedirects(new URL(linkIn(params).url))).text);
      return { action: 'accept' };
    });
    expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
    expect(pages).toEqual([expect.stringContaining('Signed in to it')]);
    const asked = linkIn(client.requests.all[0]?.params);
    expect(asked).toMatchObject({
      mode: 'url',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/sign-in\/[\w-]{32}$/),
      message: expect.stringMatching(/^Trunkline: Server "it" requires you to sign in/),
    });
    const completed = await client.notifications.waitFor(
      ({ method }) => method === 'notifications/elicitation/complete',
    );
    expect(completed.params).toEqual({ elicitationId: asked.elicitationId });
    expect(server.log.of('authorize')).toHaveLength(1);
    await client.close();
  },
);

test('sign-in link: works through a background gateway', async () => {
  await using server = await startProtectedServer();
  await using shared = new SharedHome({ mcpServers: { it: { url: server.url } } });
  const client = await (await shared.pipe()).client({ capabilities });
  client.answers('elicitation/create', async (params) => {
    expect((await followRedirects(new URL(linkIn(params).url))).status).toBe(200);
    return { action: 'accept' };
  });
  expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
  await client.close();
});

test('sign-in link: returns 404 for every other path and method', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const client = await gateway.client({ capabilities });
  const seen: number[] = [];
  client.answers('elicitation/create', async (params) => {
    const url = new URL(linkIn(params).url);
    for (const path of ['/', '//', '/sign-in/', `${url.pathname}x`, '/callback?code=1&state=2'])
      seen.push((await fetch(`${url.origin}${path}`)).status);
    seen.push((await fetch(url, { method: 'POST' })).status);
    return { action: 'decline' };
  });
  expect(gatewayErrorCode(await client.callTool('it__whoami'))).toBe('UPSTREAM_NEEDS_AUTH');
  expect(seen).toEqual([404, 404, 404, 404, 404, 404]);
  expect(server.log.of('as')).toEqual([]);
  await client.close();
});

test('sign-in link: is returned to a modern client, whose next request continues the call', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const client = await gateway.client({ era: 'modern', capabilities });
  const call = { name: 'it__whoami', arguments: {} };
  const first = await client.request('tools/call', call);
  expect(first).toMatchObject({ resultType: 'input_required' });
  const questions = Object.entries(first['inputRequests'] as Record<string, JsonObject>);
  expect(questions).toHaveLength(1);
  const [key, question] = questions[0]!;
  expect(question).toMatchObject({ method: 'elicitation/create', params: { mode: 'url' } });
  const { url, elicitationId } = linkIn(question['params']);
  expect(elicitationId).toBeUndefined();
  // Nothing happens at the authorization server before a person opens the link.
  expect(server.log.of('as')).toEqual([]);
  const answered = client.request('tools/call', {
    ...call,
    inputResponses: { [key]: { action: 'accept' } },
    requestState: first['requestState'],
  });
  expect((await followRedirects(new URL(url))).text).toContain('Signed in to it');
  expect(JSON.stringify(await answered)).toContain('ada@example.com');
  await client.close();
});

test('sign-in link: is not offered again right after a decline', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const client = await gateway.client({ capabilities });
  let count = 0;
  client.answers('elicitation/create', () => {
    count += 1;
    return { action: 'decline' };
  });
  for (let call = 0; call < 3; call += 1) {
    const answer = await client.callTool('it__whoami');
    expect(gatewayErrorCode(answer)).toBe('UPSTREAM_NEEDS_AUTH');
    expect(textOfResult(answer)).toContain('trunkline login it');
  }
  expect(count).toBe(1);
  await client.close();
});

test('sign-in link: is shared by concurrent calls of one client', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const client = await gateway.client({ capabilities });
  const links: string[] = [];
  client.answers('elicitation/create', async (params) => {
    links.push(linkIn(params).url);
    await followRedirects(new URL(linkIn(params).url));
    return { action: 'accept' };
  });
  const answers = await Promise.all([1, 2, 3, 4].map(() => client.callTool('it__whoami')));
  for (const answer of answers) expect(textOfResult(answer)).toContain('ada@example.com');
  expect(links).toHaveLength(1);
  expect(server.log.of('authorize')).toHaveLength(1);
  await client.close();
});

test('sign-in link: is the same for two clients', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const clients = [await gateway.client({ capabilities }), await gateway.client({ capabilities })];
  const links: string[] = [];
  for (const client of clients)
    client.answers('elicitation/create', (params) => {
      links.push(linkIn(params).url);
      return { action: 'accept' };
    });
  const answers = clients.map((client) => client.callTool('it__whoami'));
  await eventually(() => expect(links).toHaveLength(2));
  expect(new Set(links).size).toBe(1);
  await followRedirects(new URL(links[0]!));
  for (const answer of answers) expect(textOfResult(await answer)).toContain('ada@example.com');
  for (const client of clients) await client.close();
});

test('sign-in link: shows why a sign-in cannot start, and the call reports it', async () => {
  await using server = await startProtectedServer({ register: false });
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const client = await gateway.client({ capabilities });
  const pages: { status: number; text: string }[] = [];
  client.answers('elicitation/create', async (params) => {
    pages.push(await followRedirects(new URL(linkIn(params).url)));
    return { action: 'accept' };
  });
  const answer = await client.callTool('it__whoami');
  expect(gatewayErrorCode(answer)).toBe('UPSTREAM_NEEDS_AUTH');
  expect(textOfResult(answer)).toMatch(/does not register clients.*trunkline login it/s);
  expect(pages).toMatchObject([{ status: 502, text: expect.stringContaining('does not register clients') }]);
  await client.close();
});

test.each([
  ['only form elicitation', { elicitation: {} }],
  ['no elicitation', {}],
])('sign-in link: is not offered to a client that supports %s', async (_what, declared) => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const client = await gateway.client({ capabilities: declared });
  const answer = await client.callTool('it__whoami');
  expect(textOfResult(answer)).toContain('trunkline login it');
  expect(client.requests.all).toEqual([]);
  await client.close();
});

test('sign-in link: is sent as an error to a legacy client that cannot be asked during a call', async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const client = await gateway.client({ capabilities });
  await client.listen();
  const failed = await rpcErrorOf(
    client.request('tools/call', { name: 'it__whoami' }, { headers: { accept: 'application/json' } }),
  );
  expect(failed.code).toBe(-32042);
  const [link] = (failed.data as { elicitations: Link[] }).elicitations;
  expect(link).toMatchObject({ mode: 'url' });
  await followRedirects(new URL(link!.url));
  const completed = await client.notifications.waitFor(
    ({ method }) => method === 'notifications/elicitation/complete',
  );
  expect(completed.params).toEqual({ elicitationId: link!.elicitationId });
  expect(textOfResult(await client.callTool('it__whoami'))).toContain('ada@example.com');
  await client.close();
});

test('sign-in link: requests additional scopes', async () => {
  const scopes = { 'tools/call': ['write'] };
  await using server = await startProtectedServer({ challengeScope: 'read', scopes });
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'http' });
  const client = await gateway.client({ capabilities });
  let count = 0;
  client.answers('elicitation/create', async (params) => {
    count += 1;
    await followRedirects(new URL(linkIn(params).url));
    return { action: 'accept' };
  });
  // The first sign-in requests only the read scope, because further scopes are not known yet; the call then requires the others.
  await client.callTool('it__whoami');
  const answer = await client.callTool('it__whoami');
  expect(textOfResult(answer)).toContain('ada@example.com');
  expect(count).toBe(2);
  expect(server.log.of('authorize')[1]?.['asked']).toMatchObject({ scope: 'read write' });
  await client.close();
});

test('sign-in link: closes when the gateway stops', { tags: ['slow'] }, async () => {
  await using server = await startProtectedServer();
  await using gateway = await startGateway({ mcpServers: { it: { url: server.url } }, listen: 'stdio' });
  const client = await gateway.client({ capabilities });
  client.answers('elicitation/create', () => ({ action: 'accept' }));
  const answer = client.callTool('it__whoami').catch((error: unknown) => error);
  const { params } = await client.requests.next();
  await gateway.stop();
  await answer;
  await expect(fetch(linkIn(params).url)).rejects.toThrow();
});
