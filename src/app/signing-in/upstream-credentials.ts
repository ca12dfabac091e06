import { seedOf, seedVariable } from '../../auth/upstream/brought/seeds.ts';
import type { KeySource } from '../../auth/upstream/sealing/secret-key.ts';
import { TokenVault } from '../../auth/upstream/token-vault.ts';
import { UpstreamCredentials } from '../../auth/upstream/upstream-credentials.ts';
import type { UpstreamConfig } from '../../config/config.ts';
import { revealAuth } from '../../config/reveal-auth.ts';
import { revealTransport } from '../../config/references.ts';
import type { ReferenceReader } from '../../config/references.ts';
import type { Credentials } from '../../model/credentials.ts';
import type { Logger } from '../../observe/log.ts';
import type { Database } from '../../storage/database.ts';
import type { AppOptions } from '../app-options.ts';

interface CredentialsWorld {
  readonly vault: TokenVault;
  readonly reader: ReferenceReader;
  readonly env: AppOptions['env'];
  readonly now: () => number;
  readonly log: Logger;
}

export function openVault(
  { pid }: Pick<AppOptions, 'pid'>,
  deps: {
    readonly database: () => Promise<Database>;
    readonly key: KeySource;
    readonly now: () => number;
    readonly log: Logger;
    readonly isFollowed?: boolean;
  },
): TokenVault {
  return new TokenVault({ ...deps, pid });
}

/** How each upstream over HTTP gets its tokens; what talks to authorization servers is loaded when there is something to say. */
export function credentialsFor(
  world: CredentialsWorld,
): (config: UpstreamConfig, caller: string) => Credentials | undefined {
  const { vault, reader, env, now, log } = world;
  return (config, caller) => {
    const { name: upstream, auth } = config;
    if (config.transport.kind !== 'http' || auth === undefined) return undefined;
    const place = { upstream, caller };
    const url = async (): Promise<string> => {
      const transport = await revealTransport(config, reader);
      return transport.kind === 'http' ? transport.url : '';
    };
    const hasSeed = caller === '' && (env[seedVariable(upstream)] ?? '') !== '';
    return new UpstreamCredentials({
      place,
      vault,
      url,
      seed: hasSeed ? (address) => seedOf(upstream, { env, url: address, now: now() }) : undefined,
      renew: async (stale, signal) => {
        const [{ renewTokens }, { guardedFetch }] = await Promise.all([
          import('../../auth/upstream/renew-tokens.ts'),
          import('../../auth/upstream/oauth/guarded-fetch.ts'),
        ]);
        const fetch = guardedFetch({ upstream: new URL(stale.url), allowPrivate: auth.allowPrivate });
        return renewTokens(stale, { vault, place, fetch, now, log, signal });
      },
      acquire:
        auth.flow === 'client-credentials'
          ? async (challenge, not, signal) => {
              const { signInAsMachine } = await import('../../auth/upstream/client-credentials.ts');
              const revealed = await revealAuth({ name: upstream, auth }, reader);
              const target = { place, url: await url(), auth: revealed, vault, now, signal };
              return signInAsMachine(target, { ...(challenge !== undefined && { challenge }), not });
            }
          : undefined,
      now,
      log,
    });
  };
}
