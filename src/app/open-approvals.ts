import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ConfigSnapshot } from '../config/config.ts';
import { FileWatcher } from '../config/reload/file-watcher.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { makeFolderSync } from '../core/lib/make-folder.ts';
import type { Scope } from '../core/lib/scope.ts';
import type { Logger } from '../observability/log.ts';
import { ApprovalRegistry } from '../policy/approvals/approval-registry.ts';
import { LOCKFILE_NAME } from '../policy/approvals/lockfile/lockfile.ts';
import type { Lockfile } from '../policy/approvals/lockfile/lockfile.ts';
import type { ServerOffer } from '../policy/approvals/approval-subject.ts';
import { createScanner } from '../policy/scanner.ts';
import { hasCommandLineServers } from './app-options.ts';
import type { AppOptions } from './app-options.ts';
import type { Store } from './open-store.ts';
import type { Runtime } from './runtime.ts';

/** Interval at which failed reads and writes of approvals are retried. */
const RETRY_INTERVAL_MS = 2000;

/**
 * Opens the approvals of this configuration. Resolves with undefined for servers on the command line, which need no approval because the
 * user has just typed them.
 */
export async function openApprovals(
  options: AppOptions,
  runtime: Runtime,
  { store, log, now }: { readonly store: Store; readonly log: Logger; readonly now: () => number },
): Promise<ApprovalRegistry | undefined> {
  if (hasCommandLineServers(options)) return undefined;
  const { stateDir } = options;
  const { config } = runtime;
  // Other gateways on the same database may know servers that this one does not know yet.
  const isShared = store.place.server !== undefined;
  const servers = createServerLookup(config);
  // Returns the tools of all servers, with the offered tools in place of those that the same server had before.
  const toolsWith = (offered: ServerOffer) => {
    const others = config().value.upstreams.filter(({ name }) => name !== offered.upstream);
    const listings = others.flatMap(({ name }) => runtime.catalog?.listing(name) ?? []);
    return [...listings, offered].flatMap(({ upstream, tools }) =>
      tools.map(({ definition }) => ({ upstream, definition })),
    );
  };
  return new ApprovalRegistry({
    database: store.database,
    hasStore: store.isStored,
    log,
    now,
    trust: (name) => servers().get(name)?.trust ?? 'manual',
    configured: (name) => servers().get(name),
    // A server that is disabled or has an invalid entry may come back unchanged, so it keeps its approvals.
    isRemoved: (name) =>
      !isShared && ![...servers().keys(), ...config().disabled, ...config().unusable].includes(name),
    lock: await readLockfile(lockfilePath(config())),
    scanner: (offered) => createScanner(toolsWith(offered)),
    onWritten: () => touchStamp(stateDir),
  });
}

/** Creates a function that returns all configured servers. The map is rebuilt only when the configuration changes. */
function createServerLookup(config: () => ConfigSnapshot) {
  const read = ({ value }: ConfigSnapshot) =>
    new Map(value.upstreams.map((upstream) => [upstream.name, upstream]));
  let snapshot = config();
  let servers = read(snapshot);
  return () => {
    if (snapshot !== config()) servers = read((snapshot = config()));
    return servers;
  };
}

/** Reloads the approvals when another process changes them or the lockfile changes. */
export function watchApprovals(
  { stateDir }: AppOptions,
  snapshot: ConfigSnapshot,
  deps: {
    readonly approvals: ApprovalRegistry;
    readonly gateway: Gateway;
    readonly scope: Scope;
    readonly log: Logger;
    readonly store: Store;
  },
): void {
  const { approvals, gateway, scope, log, store } = deps;
  const file = lockfilePath(snapshot);
  const apply = async (isLock: boolean): Promise<void> => {
    if (isLock) approvals.useLock(await readLockfile(file));
    await gateway.heldEntries.reload();
  };
  const watch = (path: string, isLock: boolean): void => {
    const onChange = (): void => {
      apply(isLock).catch((error: unknown) =>
        log.error('Approvals could not be reloaded.', { file: path, reason: String(error) }),
      );
    };
    const files = [path];
    const watcher = new FileWatcher({ files: () => files, onChange });
    scope.defer(() => watcher[Symbol.dispose]());
  };
  makeStampFolder(stateDir);
  watch(stampPath(stateDir), false);
  store.follow('approvals', () => {
    apply(false).catch((error: unknown) =>
      log.error('Approvals could not be reloaded.', { reason: String(error) }),
    );
  });
  watch(file, true);
  // Retries approvals that could not be read or written.
  const retryTimer = setInterval(() => {
    if (approvals.problem !== undefined) apply(false).catch(() => {}); // The problem was logged and is part of the status.
    else if (approvals.hasUnwritten) void approvals.retryWrites();
  }, RETRY_INTERVAL_MS).unref();
  scope.defer(() => clearInterval(retryTimer));
}

/** Returns the path of the lockfile, beside the configuration, so that both are reviewed together. */
function lockfilePath({ file }: Pick<ConfigSnapshot, 'file'>): string {
  return join(dirname(file), LOCKFILE_NAME);
}

async function readLockfile(file: string): Promise<Lockfile | undefined> {
  if (!existsSync(file)) return undefined;
  const { parseLockfile } = await import('../policy/approvals/lockfile/parse-lockfile.ts');
  return parseLockfile(file, readFileSync(file, 'utf8'));
}

/**
 * Returns the path of the stamp file. Each change of the approvals writes it, so that other processes notice the change. The file has its own
 * folder, because a watcher of the database's folder would notice every write to the database.
 */
function stampPath(stateDir: string): string {
  return join(stateDir, 'approvals', 'changed');
}

/** Creates the folder of the stamp file. Ignores a failure: without the folder, the watcher polls every second. */
function makeStampFolder(stateDir: string): void {
  try {
    makeFolderSync(dirname(stampPath(stateDir)), 0o700);
  } catch {
    // The folder is not writable, so no process can approve anything.
  }
}

/** Notifies other processes of a change. Ignores a failure: the other processes then notice the change with their next listing. */
function touchStamp(stateDir: string): void {
  makeStampFolder(stateDir);
  try {
    writeFileSync(stampPath(stateDir), `${Date.now()}\n`, { mode: 0o600 });
  } catch {
    // The approval is stored; only the notification is missing.
  }
}
