import { join } from 'node:path';

import { hasAuthorization, omitEmptyAuthorization } from '../../config/authorization-header.ts';
import type { UpstreamAuth, UpstreamConfig } from '../../config/config.ts';
import type { ReferenceReader } from '../../config/resolve-references.ts';
import { resolveAuth } from '../../config/resolve-auth.ts';
import { resolveTransport } from '../../config/resolve-transport.ts';
import { GatewayError } from '../../core/errors.ts';
import { findSimilar } from '../../core/lib/find-similar.ts';
import type { DevicePrompt } from './device-sign-in.ts';
import type { SignInTarget } from './prepare-sign-in.ts';
import type { SignInStatus } from './sign-in-status.ts';
import type { StoredTokens } from './stored-tokens.ts';
import type { TokenVault } from './token-vault.ts';

export interface UpstreamSignInsDeps {
  readonly upstreams: () => readonly UpstreamConfig[];
  readonly vault: TokenVault;
  readonly reader: ReferenceReader;
  readonly now: () => number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

interface SignInRequest {
  readonly server: string;
  /** Empty for the sign-in that all callers share. */
  readonly caller: string;
  /** Overrides the flow in the configuration. */
  readonly flow?: UpstreamAuth['flow'] | undefined;
  readonly open: (url: URL) => Promise<void>;
  readonly show: (prompt: DevicePrompt) => void;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
}

const UNREADABLE =
  'The saved tokens cannot be decrypted, because the key they were saved with is no longer in secret.key. Restore that file, or sign in again.';

/**
 * Signs in to and out of the configured servers. A gateway in another process notices an awaited sign-in within a second, and other changes
 * at the first request after two seconds.
 */
export class UpstreamSignIns {
  readonly #deps: UpstreamSignInsDeps;

  constructor(deps: UpstreamSignInsDeps) {
    this.#deps = deps;
  }

  async signIn(request: SignInRequest): Promise<Pick<StoredTokens, 'account' | 'scope' | 'expiresAt'>> {
    const { server, caller, flow, open, show, timeoutMs, signal } = request;
    const target = await this.#resolveTarget(server, caller, signal);
    switch (flow ?? target.auth.flow) {
      case 'browser': {
        const { signInWithBrowser } = await import('./browser-sign-in.ts');
        return signInWithBrowser({ ...target, open, timeoutMs });
      }
      case 'device': {
        const { signInWithDevice } = await import('./device-sign-in.ts');
        return signInWithDevice({ ...target, show });
      }
      case 'client-credentials': {
        const { signInWithClientCredentials } = await import('./client-credentials-sign-in.ts');
        const rejectedToken = (await target.vault.load(target.signInId))?.accessToken;
        return signInWithClientCredentials(target, { rejectedToken });
      }
    }
  }

  async signOut(
    server: string,
    caller: string,
    signal: AbortSignal,
  ): Promise<'revoked' | 'forgotten' | 'not-signed-in'> {
    const { signOut } = await import('./sign-out.ts');
    return signOut(await this.#resolveTarget(server, caller, signal));
  }

  /** Saves a token that a person created by hand. */
  async saveToken(server: string, caller: string, token: string): Promise<void> {
    const { vault, now } = this.#deps;
    const { signInId, url } = await this.#resolveTarget(server, caller);
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new GatewayError(
        'USAGE',
        'This is not a token: it is empty, or has spaces or characters that are not allowed in a header.',
      );
    await vault.save(signInId, { url, accessToken: token, obtainedAt: now(), flow: 'pasted' });
    await vault.saveNote(signInId, undefined);
  }

  /** Imports the tokens that `mcp-remote` has for exactly this server. */
  async importMcpRemote(server: string, caller: string, signal: AbortSignal): Promise<void> {
    const { env, home } = this.#deps;
    const { importMcpRemote } = await import('./token-import/import-mcp-remote.ts');
    const folder = env['MCP_REMOTE_CONFIG_DIR'] ?? join(home, '.mcp-auth');
    await importMcpRemote(await this.#resolveTarget(server, caller, signal), { folder });
  }

  /** Returns the address of the page on which people create a token; undefined for an unknown service. */
  async findTokenPage(server: string): Promise<string | undefined> {
    const { findTokenPage } = await import('./token-import/token-pages.ts');
    return findTokenPage((await this.#resolveTarget(server, '')).url);
  }

  /** Returns the configured flow; rejects for a server without a sign-in. */
  async flowOf(server: string): Promise<UpstreamAuth['flow']> {
    return (await this.#resolveTarget(server, '')).auth.flow;
  }

  async list(): Promise<readonly SignInStatus[]> {
    const { upstreams, vault } = this.#deps;
    const ids = await vault.listSignInIds();
    const entries = upstreams().flatMap((config) => {
      if (config.transport.kind !== 'http') return [];
      const perCaller = ids.filter(({ upstream, caller }) => upstream === config.name && caller !== '');
      return [{ config, caller: '' }, ...perCaller.map(({ caller }) => ({ config, caller }))];
    });
    return Promise.all(entries.map(({ config, caller }) => this.#readStatus(config, caller)));
  }

  /** Describes a sign-in from the stored data, without contacting a server. */
  async #readStatus(config: UpstreamConfig, caller: string): Promise<SignInStatus> {
    const { vault, now } = this.#deps;
    const common = { server: config.name, caller };
    if (config.transport.kind === 'http' && hasAuthorization(config.transport.headers))
      return { ...common, state: 'header' };
    const signInId = { upstream: config.name, caller };
    const [tokens, note] = await Promise.all([vault.load(signInId), vault.loadNote(signInId)]);
    if (tokens === undefined && (await vault.isUnreadable(signInId)))
      return { ...common, state: 'needs-sign-in', problem: UNREADABLE };
    const problem = note?.problem;
    if (tokens === undefined)
      return { ...common, state: note === undefined ? 'not-signed-in' : 'needs-sign-in', problem };
    const { account, scope, expiresAt, refreshToken, flow, server } = tokens;
    const renews = refreshToken !== undefined || flow === 'client-credentials';
    const isExpired = expiresAt !== undefined && expiresAt <= now() && !renews;
    return {
      ...common,
      state: isExpired ? 'expired' : 'signed-in',
      renews,
      account,
      scope,
      expiresAt,
      issuer: server?.issuer,
      problem,
    };
  }

  async #resolveTarget(
    server: string,
    caller: string,
    signal = new AbortController().signal,
  ): Promise<SignInTarget> {
    const { upstreams, vault, reader, now } = this.#deps;
    const config = findHttpServer(server, upstreams());
    const transport = await resolveTransport(config, reader);
    const auth = await resolveAuth(config, reader);
    const { url, headers } = transport.kind === 'http' ? transport : { url: '', headers: {} };
    if (hasAuthorization(omitEmptyAuthorization(headers)))
      throw new GatewayError(
        'USAGE',
        `The entry of server "${server}" has an Authorization header, which takes precedence over a sign-in. Remove the header to sign in.`,
      );
    return { signInId: { upstream: config.name, caller }, url, auth, vault, now, signal };
  }
}

function findHttpServer(
  server: string,
  upstreams: readonly UpstreamConfig[],
): UpstreamConfig & { readonly auth: UpstreamAuth } {
  const config = upstreams.find(({ name }) => name === server);
  if (config === undefined) {
    const near = findSimilar(
      server,
      upstreams.map(({ name }) => name),
      1,
    );
    const hint = near.length === 0 ? '' : ` Did you mean "${near[0]}"?`;
    throw new GatewayError('ENTRY_NOT_FOUND', `There is no server "${server}" in the configuration.${hint}`, {
      details: { kind: 'server', near },
    });
  }
  const { auth } = config;
  if (auth === undefined)
    throw new GatewayError(
      'USAGE',
      `Server "${server}" is a program on this machine, which needs no sign-in.`,
    );
  return { ...config, auth };
}
