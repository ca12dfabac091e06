import { SecretStore } from '../auth/upstream/secret-store.ts';
import { findSystemKeychain } from '../auth/upstream/token-encryption/keychain.ts';
import type { KeySource } from '../auth/upstream/token-encryption/secret-key.ts';
import { loadConfig } from '../config/load-config.ts';
import type { RunningPrograms } from '../config/reference-command.ts';
import { hasDatabase, openDatabase } from '../core/storage/database.ts';
import { LazyDatabase } from '../core/storage/lazy-database.ts';
import { silentLogger } from '../observability/log.ts';
import type { Logger } from '../observability/log.ts';
import type { AppOptions } from './app-options.ts';
import { openInstanceKey } from './open-instance-key.ts';
import { resolveStoreLocation } from './open-store.ts';
import type { Store } from './open-store.ts';

/** Creates the store of secrets on the database of a gateway. */
export function createSecretStore(
  { stateDir, env, platform }: Pick<AppOptions, 'stateDir' | 'env' | 'platform'>,
  {
    store,
    key,
    log,
    running,
  }: {
    readonly store: Pick<Store, 'place' | 'database' | 'isStored'>;
    readonly key: KeySource;
    readonly log: Logger;
    readonly running?: RunningPrograms | undefined;
  },
): SecretStore {
  const { place, database, isStored } = store;
  // The other gateways on a database server cannot read the keychain of this machine.
  const usesKeychain = place.server === undefined && env['TRUNKLINE_KEYCHAIN'] !== '0';
  const keychain = usesKeychain ? findSystemKeychain({ platform, env, running }) : undefined;
  return new SecretStore({ database, isStored, key, keychain, stateDir, now: Date.now, log });
}

/** Opens the store of secrets for a command that works without a running gateway. */
export async function openSecrets(
  options: Pick<AppOptions, 'file' | 'text' | 'stateDir' | 'env' | 'home' | 'platform' | 'version'>,
): Promise<SecretStore & AsyncDisposable> {
  const { file, text, version } = options;
  const log = silentLogger;
  const snapshot = await loadConfig({ file, text, version });
  const place = await resolveStoreLocation(options, snapshot);
  const lazy = new LazyDatabase(() => openDatabase({ ...place, log }));
  const store = { place, database: () => lazy.get(), isStored: () => hasDatabase(place) };
  const secrets = createSecretStore(options, { store, key: openInstanceKey(options, snapshot), log });
  return Object.assign(secrets, { [Symbol.asyncDispose]: () => lazy[Symbol.asyncDispose]() });
}
