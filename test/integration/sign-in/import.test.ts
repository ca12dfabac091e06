import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { importMcpRemote } from '../../../src/auth/upstream/token-import/import-mcp-remote.ts';
import type { StoredTokens } from '../../../src/auth/upstream/stored-tokens.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { DEFAULT_AUTH, openSignInHarness, startProtectedServer } from '../../support/sign-in.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const HOUR = 3_600_000;

/** Creates a folder with the files that `mcp-remote` writes. */
function folderOf(url: string, { accessToken, refreshToken, client }: StoredTokens): string {
  const folder = temporaryFolder('mcp-auth');
  const own = join(folder, 'mcp-remote-0.1.38');
  mkdirSync(own);
  const hash = createHash('md5').update(url).digest('hex');
  const tokens = {
    access_token: accessToken,
    refresh_token: refreshToken,
    expires_in: 3600,
    token_type: 'Bearer',
  };
  writeFileSync(join(own, `${hash}_tokens.json`), JSON.stringify(tokens));
  writeFileSync(
    join(own, `${hash}_client_info.json`),
    JSON.stringify({ client_id: client?.id, redirect_uris: [] }),
  );
  return folder;
}

function target(desk: ReturnType<typeof openSignInHarness>) {
  const { signInId, url, vault } = desk;
  return { signInId, url, auth: DEFAULT_AUTH, vault, now: Date.now, signal: new AbortController().signal };
}

test('mcp-remote import: takes over tokens and refreshes them', async () => {
  await using server = await startProtectedServer();
  await using before = openSignInHarness(server.url);
  const tokens = await before.signIn();
  await using desk = openSignInHarness(server.url);
  await importMcpRemote(target(desk), { folder: folderOf(server.url, tokens) });
  const credentials = desk.credentials();
  expect(await credentials.headers()).toEqual({ Authorization: `Bearer ${tokens.accessToken}` });
  desk.clock.offset = 2 * HOUR;
  await credentials.headers();
  expect(server.log.of('refresh')).toHaveLength(1);
  expect(server.log.of('refused')).toEqual([]);
});

test('mcp-remote import: rejects tokens of a different URL', async () => {
  await using server = await startProtectedServer();
  await using before = openSignInHarness(server.url);
  const folder = folderOf(server.url, await before.signIn());
  for (const url of [`${server.url}/`, `${server.url}?a=1`, server.url.replace('127.0.0.1', 'localhost')]) {
    await using desk = openSignInHarness(url);
    await expect(importMcpRemote(target(desk), { folder })).rejects.toThrow(/has no tokens for/);
    expect(await desk.vault.load(desk.signInId)).toBeUndefined();
  }
});

test('mcp-remote import: treats a damaged file as missing tokens', async () => {
  await using server = await startProtectedServer();
  await using before = openSignInHarness(server.url);
  const folder = folderOf(server.url, await before.signIn());
  const hash = createHash('md5').update(server.url).digest('hex');
  writeFileSync(join(folder, 'mcp-remote-0.1.38', `${hash}_tokens.json`), '{ "access_to');
  await using desk = openSignInHarness(server.url);
  await expect(importMcpRemote(target(desk), { folder })).rejects.toThrow(/has no tokens for/);
});
