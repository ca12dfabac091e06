import { loadConfig } from '../../config/load.ts';
import { referenceReader } from '../../config/references.ts';
import type { Logger } from '../../observe/log.ts';
import { openDatabase } from '../../storage/database.ts';
import { LazyDatabase } from '../../storage/lazy-database.ts';
import type { AppOptions } from '../app-options.ts';
import { instanceKey } from '../instance-key.ts';
import { storePlace } from '../open-store.ts';
import { signInsOf } from './sign-ins.ts';
import type { SignIns } from './sign-ins.ts';
import { openVault } from './upstream-credentials.ts';

type SignInsOptions = Pick<
  AppOptions,
  'file' | 'text' | 'stateDir' | 'env' | 'home' | 'pid' | 'platform' | 'version'
> & {
  readonly log: Logger;
};

/** Signing in and out without a running gateway. */
export async function openSignIns(options: SignInsOptions): Promise<SignIns & AsyncDisposable> {
  const { log, file, text, env, home } = options;
  const now = Date.now;
  const snapshot = await loadConfig({ file, text, version: options.version });
  const { value } = snapshot;
  const place = await storePlace(options, snapshot);
  const database = new LazyDatabase(() => openDatabase({ ...place, log }));
  const key = instanceKey(options, snapshot);
  const vault = openVault(options, { database: () => database.get(), key, now, log });
  const reader = referenceReader({ env, home, configFile: file });
  return {
    ...signInsOf({ upstreams: () => value.upstreams, vault, reader, now, env, home }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
