import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { FileWatch } from '../config/reload/file-watch.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { makeFolderSync } from '../lib/make-folder.ts';
import type { Scope } from '../lib/scope.ts';
import type { Logger } from '../observe/log.ts';
import { Approvals } from '../policy/approvals/approvals.ts';
import { LOCK_FILE } from '../policy/approvals/lock/lock.ts';
import type { Lock } from '../policy/approvals/lock/lock.ts';
import type { Offered } from '../policy/approvals/subject.ts';
import { scanner } from '../policy/scanner.ts';
import type { Database } from '../storage/database.ts';
import { isTyped } from './app-options.ts';
import type { AppOptions } from './app-options.ts';
import type { Store } from './open-store.ts';

const TRY_AGAIN_MS = 2000;

/** What was approved with this configuration; undefined where a person has just typed the server's command. */
export async function openApprovals(
  options: AppOptions,
  config: () => ConfigSnapshot,
  deps: {
    readonly database: () => Promise<Database>;
    readonly isStored: () => boolean;
    /** With gateways that may know servers which this one does not know, or not yet. */
    readonly isShared: boolean;
    readonly catalog: () => Catalog;
    readonly log: Logger;
    readonly now: () => number;
  },
): Promise<Approvals | undefined> {
  if (isTyped(options)) return undefined;
  const { stateDir } = options;
  const trust = trustOf(config);
  const toolsWith = (offered: Offered) => {
    const others = config().value.upstreams.filter(({ name }) => name !== offered.upstream);
    const listings = others.flatMap(({ name }) => deps.catalog().listing(name) ?? []);
    return [...listings, offered].flatMap(({ upstream, tools }) =>
      tools.map(({ definition }) => ({ upstream, definition })),
    );
  };
  return new Approvals({
    ...deps,
    trust: (name) => trust().get(name) ?? 'manual',
    // An entry with a mistake in it is left out, and may come back as it was.
    isGone: (name) =>
      !deps.isShared && ![...trust().keys(), ...config().disabled, ...config().unusable].includes(name),
    lock: await readLockFile(lockFile(config())),
    scanner: (offered) => scanner(toolsWith(offered)),
    onWritten: () => touch(stateDir),
  });
}

function trustOf(config: () => ConfigSnapshot) {
  const read = ({ value }: ConfigSnapshot) =>
    new Map(value.upstreams.map((upstream) => [upstream.name, upstream.trust]));
  let of = config();
  let known = read(of);
  return () => {
    if (of !== config()) known = read((of = config()));
    return known;
  };
}

/** Notices what other processes approve, and what becomes of the lockfile. */
export function watchApprovals(
  { stateDir }: AppOptions,
  snapshot: ConfigSnapshot,
  deps: {
    readonly approvals: Approvals;
    readonly gateway: Gateway;
    readonly scope: Scope;
    readonly log: Logger;
    readonly store: Store;
  },
): void {
  const { approvals, gateway, scope, log, store } = deps;
  const file = lockFile(snapshot);
  const apply = async (isLock: boolean): Promise<void> => {
    if (isLock) approvals.useLock(await readLockFile(file));
    await gateway.quarantine.changed();
  };
  const watch = (path: string, isLock: boolean): void => {
    const onChange = (): void => {
      apply(isLock).catch((error: unknown) =>
        log.error('Approvals could not be read again.', { file: path, reason: String(error) }),
      );
    };
    const files = [path];
    const watching = new FileWatch({ files: () => files, onChange });
    scope.defer(() => watching[Symbol.dispose]());
  };
  makePlaceOfStamp(stateDir);
  watch(stamp(stateDir), false);
  store.follow('approvals', () => {
    apply(false).catch((error: unknown) =>
      log.error('Approvals could not be read again.', { reason: String(error) }),
    );
  });
  watch(file, true);
  // What could not be read at the start is read when it can be, and what could not be written is written.
  const again = setInterval(() => {
    if (approvals.problem !== undefined) apply(false).catch(() => {}); // It was said, and the status has it.
    else if (approvals.isBehind) void approvals.catchUp();
  }, TRY_AGAIN_MS).unref();
  scope.defer(() => clearInterval(again));
}

/** Beside the configuration, so that both are reviewed together. */
function lockFile({ file }: Pick<ConfigSnapshot, 'file'>): string {
  return join(dirname(file), LOCK_FILE);
}

async function readLockFile(file: string): Promise<Lock | undefined> {
  if (!existsSync(file)) return undefined;
  const { readLock } = await import('../policy/approvals/lock/read-lock.ts');
  return readLock(file, readFileSync(file, 'utf8'));
}

/** In a folder of its own: whoever listens to that of the database is told of every write to it. */
function stamp(stateDir: string): string {
  return join(stateDir, 'approvals', 'changed');
}

/** Best effort: one that is not there is looked for each second, and cannot be listened to. */
function makePlaceOfStamp(stateDir: string): void {
  try {
    makeFolderSync(dirname(stamp(stateDir)), 0o700);
  } catch {
    // Nothing can be written there, so that nobody approves anything either.
  }
}

/** Best effort: other processes would notice with their next listing. */
function touch(stateDir: string): void {
  makePlaceOfStamp(stateDir);
  try {
    writeFileSync(stamp(stateDir), `${Date.now()}\n`, { mode: 0o600 });
  } catch {
    // The store has it; only the hint is missing.
  }
}
