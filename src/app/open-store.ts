import type { ConfigSnapshot } from '../config/config.ts';
import { createReferenceReader, resolveReferences } from '../config/resolve-references.ts';
import type { Scope } from '../core/lib/scope.ts';
import { GatewayError } from '../core/errors.ts';
import type { Logger } from '../observability/log.ts';
import type { ChangeTopic } from '../core/storage/change-notifier.ts';
import { hasDatabase, openDatabase } from '../core/storage/database.ts';
import type { Database } from '../core/storage/database.ts';
import { LazyDatabase } from '../core/storage/lazy-database.ts';
import type { StoreLocation } from '../core/storage/store-location.ts';
import type { AppOptions } from './app-options.ts';

/** The database of a gateway, opened on first use. */
export interface Store {
  readonly place: StoreLocation;
  readonly database: () => Promise<Database>;
  /** Whether an earlier run or another gateway may have stored data. */
  readonly isStored: () => boolean;
  /** Calls the listener when another gateway changes this topic on a shared PostgreSQL; does nothing on SQLite. */
  readonly follow: (topic: ChangeTopic, listener: () => void) => void;
}

/** Delay before `follow` tries again to reach the database. */
const TRY_AGAIN_MS = 2000;

/** Returns the location of the database from the configuration, with resolved references. */
export async function resolveStoreLocation(
  { stateDir, env, home }: Pick<AppOptions, 'stateDir' | 'env' | 'home'>,
  { file, value }: Pick<ConfigSnapshot, 'file' | 'value'>,
): Promise<StoreLocation> {
  const { url, ...limits } = value.storage;
  if (url === undefined) return { stateDir };
  const reader = createReferenceReader({ env, home, configFile: file });
  const resolved = await resolveReferences(url, {
    server: 'storage',
    field: 'url',
    read: (reference) => reader.read(reference),
  });
  if (!/^postgres(?:ql)?:\/\//.test(resolved) || !URL.canParse(resolved))
    throw new GatewayError(
      'CONFIG_INVALID',
      'storage.url must be an address that begins with postgres:// or postgresql://, even if it is a reference.',
    );
  return { stateDir, server: { url: withLogin(resolved, env), ...limits } };
}

/** Adds PGUSER and PGPASSWORD to the URL, as PostgreSQL clients do, because worker threads do not have the environment. */
function withLogin(text: string, env: AppOptions['env']): string {
  const url = new URL(text);
  const { PGUSER = env['USER'], PGPASSWORD } = env;
  if (url.username === '' && !url.searchParams.has('user') && PGUSER !== undefined)
    url.searchParams.set('user', PGUSER);
  if (url.password === '' && !url.searchParams.has('password') && PGPASSWORD !== undefined)
    url.searchParams.set('password', PGPASSWORD);
  return url.href;
}

export function openStore(
  place: StoreLocation,
  { scope, log }: { readonly scope: Scope; readonly log: Logger },
): Store {
  const lazy = scope.use(new LazyDatabase(() => openDatabase({ ...place, log })));
  const follow = (topic: ChangeTopic, listener: () => void): void => {
    if (place.server === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    let listening: Disposable | undefined;
    let isOver = false;
    const attempt = async (): Promise<void> => {
      try {
        const { changes } = await lazy.get();
        if (!isOver) listening = changes.on(topic, listener);
      } catch {
        // Queries report the problem, so it is not logged here.
        if (!isOver) timer = setTimeout(() => void attempt(), TRY_AGAIN_MS).unref();
      }
    };
    scope.defer(() => {
      isOver = true;
      clearTimeout(timer);
      listening?.[Symbol.dispose]();
    });
    void attempt();
  };
  return { place, database: () => lazy.get(), isStored: () => hasDatabase(place), follow };
}
