import { TokenVault } from '../auth/upstream/token-vault.ts';
import { UpstreamSignIns } from '../auth/upstream/upstream-sign-ins.ts';
import { loadConfig } from '../config/load-config.ts';
import { createReferenceReader } from '../config/resolve-references.ts';
import { hasDatabase, openDatabase } from '../core/storage/database.ts';
import { LazyDatabase } from '../core/storage/lazy-database.ts';
import { FailureMemory } from '../gateway/failure-memory.ts';
import type { Logger } from '../observability/log.ts';
import type { AppOptions } from './app-options.ts';
import { openInstanceKey } from './open-instance-key.ts';
import { createSecretStore } from './open-secrets.ts';
import { resolveStoreLocation } from './open-store.ts';

type SignInsOptions = Pick<
  AppOptions,
  'file' | 'text' | 'stateDir' | 'env' | 'home' | 'pid' | 'platform' | 'version'
> & {
  readonly log: Logger;
};

/**
 * Gives a command that works without a running gateway access to the stored sign-ins of servers. `forgetFailure` removes the record that a
 * server needed to sign in.
 */
export async function openSignIns(
  options: SignInsOptions,
): Promise<
  UpstreamSignIns & AsyncDisposable & { readonly forgetFailure: (server: string) => Promise<void> }
> {
  const { log, file, text, env, home, pid, version } = options;
  const now = Date.now;
  const snapshot = await loadConfig({ file, text, version });
  const { upstreams } = snapshot.value;
  const place = await resolveStoreLocation(options, snapshot);
  const database = new LazyDatabase(() => openDatabase({ ...place, log }));
  const key = openInstanceKey(options, snapshot);
  const vault = new TokenVault({ database: () => database.get(), key, pid, now, log });
  const store = { place, database: () => database.get(), isStored: () => hasDatabase(place) };
  const secrets = createSecretStore(options, { store, key, log });
  const reader = createReferenceReader({ env, home, configFile: file, secrets });
  const signIns = new UpstreamSignIns({ upstreams: () => upstreams, vault, reader, now, env, home });
  return Object.assign(signIns, {
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    forgetFailure: async (server: string) => {
      await using failures = new FailureMemory(options.stateDir, { mask: (_, problem) => problem, log });
      failures.forget(server);
    },
  });
}
