import type { ConfigSnapshot } from '../config/config.ts';
import { referenceReader, reveal } from '../config/references.ts';
import type { Scope } from '../lib/scope.ts';
import { GatewayError } from '../model/errors.ts';
import type { Logger } from '../observe/log.ts';
import type { Topic } from '../storage/changes.ts';
import { hasDatabase, openDatabase } from '../storage/database.ts';
import type { Database } from '../storage/database.ts';
import { LazyDatabase } from '../storage/lazy-database.ts';
import type { StorePlace } from '../storage/store-place.ts';
import type { AppOptions } from './app-options.ts';

/** The one database of a gateway, opened when somebody needs it. */
export interface Store {
  readonly place: StorePlace;
  readonly database: () => Promise<Database>;
  /** Whether an earlier run, or another gateway, may have stored anything. */
  readonly isStored: () => boolean;
  /** Follows what other gateways change, where they share a server; elsewhere it does nothing. */
  readonly follow: (topic: Topic, listener: () => void) => void;
}

const TRY_AGAIN_MS = 2000;

/** Where the configuration wants everything to be kept, with its references revealed. */
export async function storePlace(
  { stateDir, env, home }: Pick<AppOptions, 'stateDir' | 'env' | 'home'>,
  { file, value }: Pick<ConfigSnapshot, 'file' | 'value'>,
): Promise<StorePlace> {
  const { url, ...limits } = value.storage;
  if (url === undefined) return { stateDir };
  const reader = referenceReader({ env, home, configFile: file });
  const revealed = await reveal(url, {
    server: 'storage',
    field: 'url',
    read: (reference) => reader.read(reference),
  });
  if (!/^postgres(?:ql)?:\/\//.test(revealed) || !URL.canParse(revealed))
    throw new GatewayError(
      'CONFIG_INVALID',
      'storage.url must be an address that begins with postgres:// or postgresql://, also where it is a reference.',
    );
  return { stateDir, server: { url: withLogin(revealed, env), ...limits } };
}

/** As other programs for PostgreSQL do; said in the address, since not every thread of ours has the environment. */
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
  place: StorePlace,
  { scope, log }: { readonly scope: Scope; readonly log: Logger },
): Store {
  const lazy = scope.use(new LazyDatabase(() => openDatabase({ ...place, log })));
  const follow = (topic: Topic, listener: () => void): void => {
    if (place.server === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    let listening: Disposable | undefined;
    let isOver = false;
    const attempt = async (): Promise<void> => {
      try {
        const { changes } = await lazy.get();
        if (!isOver) listening = changes.on(topic, listener);
      } catch {
        // Whoever needs the database is told; here it is only tried again.
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
