import { join } from 'node:path';

import { tokenSeedVariable } from '../../src/auth/upstream/token-import/token-seed.ts';
import { openKeyFile } from '../../src/auth/upstream/token-encryption/secret-key.ts';
import { signInWithBrowser } from '../../src/auth/upstream/browser-sign-in.ts';
import type { StoredTokens } from '../../src/auth/upstream/stored-tokens.ts';
import { TokenVault } from '../../src/auth/upstream/token-vault.ts';
import { createCredentialsFactory } from '../../src/auth/upstream/upstream-credentials.ts';
import type { UpstreamAuth } from '../../src/config/config.ts';
import { createReferenceReader } from '../../src/config/resolve-references.ts';
import type { Credentials, Refusal } from '../../src/core/credentials.ts';
import type { UpstreamName } from '../../src/core/ids.ts';
import { silentLogger } from '../../src/observability/log.ts';
import { openDatabase } from '../../src/core/storage/database.ts';
import { LazyDatabase } from '../../src/core/storage/lazy-database.ts';
import { waitForTool } from './client-helpers.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import { type Behaviour, type ProtectedServer, login, startProtectedServer } from './protected-server.ts';
import type { RawClient } from './raw-client.ts';
import { temporaryFolder } from './test-run.ts';
import { upstreamConfig } from './upstream-config.ts';

export { login, startProtectedServer };

/** A server that requires a sign-in and a gateway that has signed in to it, with a client that lists its tools. */
export interface SignedInGateway extends AsyncDisposable {
  readonly server: ProtectedServer;
  readonly gateway: RunningGateway;
  readonly client: RawClient;
  readonly home: string;
}

export async function openSignedInGateway(behaviour: Behaviour = {}): Promise<SignedInGateway> {
  const server = await startProtectedServer(behaviour);
  const home = temporaryFolder('home');
  const gateway = await startGateway({ mcpServers: { it: { url: server.url } }, home, listen: 'http' });
  const { code, stderr } = await login(home, 'it');
  if (code !== 0) throw new Error(`The sign-in failed: ${stderr}`);
  const client = await gateway.client();
  await waitForTool(client, 'it__whoami');
  return {
    server,
    gateway,
    client,
    home,
    async [Symbol.asyncDispose]() {
      await client.close();
      await gateway[Symbol.asyncDispose]();
      await server.stop();
    },
  };
}

/** Everything that signs in to one server, with its own vault in a new folder and without a gateway. */
export interface SignInHarness extends AsyncDisposable {
  readonly vault: TokenVault;
  readonly stateDir: string;
  readonly signInId: { readonly upstream: UpstreamName; readonly caller: string };
  readonly url: string;
  /** Signs in with a browser that approves. */
  signIn(options?: {
    auth?: Partial<UpstreamAuth>;
    open?: (url: URL) => Promise<void>;
    timeoutMs?: number;
    caller?: string;
  }): Promise<StoredTokens>;
  /** Returns the credentials that a gateway uses for this server. */
  credentials(options?: { auth?: Partial<UpstreamAuth>; url?: string; seed?: string }): Credentials;
  /** Changing `offset` moves the clock. */
  readonly clock: { offset: number };
}

export const DEFAULT_AUTH: UpstreamAuth = {
  flow: 'browser',
  per: 'server',
  scopes: [],
  callbackPort: { first: 0, last: 0 },
  allowPrivate: false,
};

export function openSignInHarness(url: string, stateDir = temporaryFolder('desk')): SignInHarness {
  const clock = { offset: 0 };
  const now = (): number => Date.now() + clock.offset;
  const log = silentLogger;
  const database = new LazyDatabase(() => openDatabase({ stateDir }));
  const key = openKeyFile(join(stateDir, 'secret.key'));
  const vault = new TokenVault({ database: () => database.get(), key, pid: process.pid, now, log });
  const upstream = 'it' as UpstreamName;
  const signInId = { upstream, caller: '' };
  const stopping = new AbortController();
  const made: Credentials[] = [];
  return {
    vault,
    stateDir,
    signInId,
    url,
    clock,
    signIn: ({ auth = {}, open = approveSignIn, timeoutMs = 10_000, caller = '' } = {}) =>
      signInWithBrowser({
        signInId: { upstream, caller },
        url,
        auth: { ...DEFAULT_AUTH, ...auth },
        vault,
        now,
        open,
        timeoutMs,
        signal: stopping.signal,
      }),
    credentials({ auth = {}, url: address = url, seed } = {}) {
      const env: Record<string, string> = seed === undefined ? {} : { [tokenSeedVariable(upstream)]: seed };
      const reader = createReferenceReader({
        env,
        home: stateDir,
        configFile: join(stateDir, 'config.jsonc'),
      });
      const config = upstreamConfig({
        name: upstream,
        transport: { kind: 'http', url: address, headers: {}, flavour: 'auto' },
        auth: { ...DEFAULT_AUTH, ...auth },
      });
      const credentials = createCredentialsFactory({
        home: '',
        searchPath: () => Promise.resolve(undefined),
        vault,
        reader,
        env,
        readVariable: (name) => env[name],
        now,
        log,
      })(config, '');
      if (credentials === undefined) throw new Error('A server over HTTP has credentials.');
      made.push(credentials);
      return credentials;
    },
    async [Symbol.asyncDispose]() {
      for (const one of made) one[Symbol.dispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Approves a sign-in like a browser that follows all redirects. */
export async function approveSignIn(url: URL): Promise<void> {
  await followRedirects(url);
}

/** Follows redirects and returns the last page. */
export async function followRedirects(url: URL): Promise<{ readonly status: number; readonly text: string }> {
  let address = url.href;
  for (let step = 0; step < 5; step += 1) {
    const answer = await fetch(address, { redirect: 'manual' });
    const next = answer.headers.get('location');
    if (next === null) return { status: answer.status, text: await answer.text() };
    address = new URL(next, address).href;
  }
  throw new Error('Too many redirects.');
}

/** Returns the facts about a request that the server has just rejected. */
export function rejectedRequest(changes: Partial<Refusal> = {}): Refusal {
  return {
    status: 401,
    challenge: 'Bearer',
    body: '',
    since: Date.now() + 1e9,
    isRepeated: false,
    isLast: false,
    ...changes,
  };
}
