import { join } from 'node:path';
import type { DevicePrompt } from '../../auth/upstream/device-sign-in.ts';
import type { SignInTarget } from '../../auth/upstream/prepare-sign-in.ts';
import type { SignInStatus } from '../../auth/upstream/sign-in-state.ts';
import type { StoredTokens } from '../../auth/upstream/stored-tokens.ts';
import type { TokenVault } from '../../auth/upstream/token-vault.ts';
import type { UpstreamAuth, UpstreamConfig } from '../../config/config.ts';
import { revealTransport } from '../../config/references.ts';
import type { ReferenceReader } from '../../config/references.ts';
import { revealAuth } from '../../config/reveal-auth.ts';
import { nearest } from '../../lib/nearest.ts';
import { GatewayError } from '../../model/errors.ts';
import { effectiveHeaders, hasAuthorization } from '../../upstream/refusals.ts';
import type { AppOptions } from '../app-options.ts';
import { signInStatus } from './sign-in-status.ts';

/** What signing in touches, in a command of its own or in a gateway. */
export interface SignInsWorld extends Pick<AppOptions, 'env' | 'home'> {
  readonly upstreams: () => readonly UpstreamConfig[];
  readonly vault: TokenVault;
  readonly reader: ReferenceReader;
  readonly now: () => number;
}

interface SignInRequest {
  readonly server: string;
  /** Empty for the sign-in that all callers share. */
  readonly caller: string;
  /** Instead of what the configuration says. */
  readonly flow?: UpstreamAuth['flow'] | undefined;
  readonly open: (url: URL) => Promise<void>;
  readonly show: (prompt: DevicePrompt) => void;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** Signing in and out; a gateway that runs elsewhere notices within a second. */
export interface SignIns {
  signIn(request: SignInRequest): Promise<Pick<StoredTokens, 'account' | 'scope' | 'expiresAt'>>;
  signOut(
    server: string,
    caller: string,
    signal: AbortSignal,
  ): Promise<'revoked' | 'forgotten' | 'not-signed-in'>;
  /** Takes a token that a person made by hand. */
  paste(server: string, caller: string, token: string): Promise<void>;
  /** Takes over what `mcp-remote` has for this very server. */
  importMcpRemote(server: string, caller: string, signal: AbortSignal): Promise<void>;
  /** Where to make one, for services that many use. */
  hint(server: string): Promise<string | undefined>;
  /** How its tokens are had; refuses servers that nobody signs in to. */
  flowOf(server: string): Promise<UpstreamAuth['flow']>;
  list(): Promise<readonly SignInStatus[]>;
}

export function signInsOf(world: SignInsWorld): SignIns {
  const { upstreams, vault, reader, now } = world;
  const target = async (server: string, caller: string, signal: AbortSignal): Promise<SignInTarget> => {
    const config = httpUpstream(server, upstreams());
    const transport = await revealTransport(config, reader);
    const auth = await revealAuth(config, reader);
    const { url, headers } = transport.kind === 'http' ? transport : { url: '', headers: {} };
    if (hasAuthorization(effectiveHeaders(headers))) {
      const text = `Server "${server}" has an Authorization header in its entry, which comes first. Remove it to sign in.`;
      throw new GatewayError('USAGE', text);
    }
    return { place: { upstream: config.name, caller }, url, auth, vault, now, signal };
  };
  return {
    async signIn({ server, caller, flow, open, show, timeoutMs, signal }) {
      const to = await target(server, caller, signal);
      switch (flow ?? to.auth.flow) {
        case 'browser': {
          const { signIn } = await import('../../auth/upstream/sign-in.ts');
          return signIn({ ...to, open, ...(timeoutMs !== undefined && { timeoutMs }) });
        }
        case 'device': {
          const { signInByDevice } = await import('../../auth/upstream/device-sign-in.ts');
          return signInByDevice({ ...to, show });
        }
        case 'client-credentials': {
          const { signInAsMachine } = await import('../../auth/upstream/client-credentials.ts');
          return signInAsMachine(to, { not: (await vault.load(to.place))?.accessToken });
        }
      }
    },
    async signOut(server, caller, signal) {
      const { signOut } = await import('../../auth/upstream/sign-out.ts');
      return signOut(await target(server, caller, signal));
    },
    async paste(server, caller, token) {
      const { place, url } = await target(server, caller, new AbortController().signal);
      if (!/^[\x21-\x7e]+$/.test(token))
        throw new GatewayError(
          'USAGE',
          'That is no token: it is empty, or has spaces or characters that no header can carry.',
        );
      await vault.save(place, { url, accessToken: token, obtainedAt: now(), flow: 'pasted' });
      await vault.note(place, undefined);
    },
    async importMcpRemote(server, caller, signal) {
      const { importMcpRemote } = await import('../../auth/upstream/brought/import-mcp-remote.ts');
      const folder = world.env['MCP_REMOTE_CONFIG_DIR'] ?? join(world.home, '.mcp-auth');
      await importMcpRemote(await target(server, caller, signal), { folder });
    },
    async hint(server) {
      const { tokenHint } = await import('../../auth/upstream/brought/token-hints.ts');
      return tokenHint((await target(server, '', new AbortController().signal)).url);
    },
    async flowOf(server) {
      return (await target(server, '', new AbortController().signal)).auth.flow;
    },
    async list() {
      const places = await vault.places();
      const all = upstreams().flatMap((config) => {
        if (config.transport.kind !== 'http') return [];
        const own = places.filter(({ upstream, caller }) => upstream === config.name && caller !== '');
        return [{ config, caller: '' }, ...own.map(({ caller }) => ({ config, caller }))];
      });
      return Promise.all(all.map(({ config, caller }) => signInStatus(config, caller, { vault, now })));
    },
  };
}

function httpUpstream(
  server: string,
  upstreams: readonly UpstreamConfig[],
): UpstreamConfig & { readonly auth: UpstreamAuth } {
  const config = upstreams.find(({ name }) => name === server);
  if (config === undefined) {
    const near = nearest(
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
      `Server "${server}" is a program on this machine; nobody signs in to it.`,
    );
  return { ...config, auth };
}
