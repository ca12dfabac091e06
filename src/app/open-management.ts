import { fileURLToPath } from 'node:url';

import type { ManagementAccess } from '../admin/admin-deps.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import { INLINE_CONFIG_VARIABLE } from '../config/file/inline-config.ts';
import { resolveLocations } from '../config/find-config.ts';
import type { ConfigReloader } from '../config/reload/config-reloader.ts';
import { GatewayError } from '../core/errors.ts';
import type { AuditTrail } from '../observability/audit/audit-trail.ts';
import type { Logger } from '../observability/log.ts';
import type { ServerLogs } from '../observability/server-log/server-logs.ts';
import type { ApplyResult } from '../setup/manage/change-results.ts';
import type { ServerEditor, ServerEditorDeps, SharedConfigStore } from '../setup/manage/server-editor.ts';
import type { SharedServerStore } from '../setup/manage/shared-server-store.ts';
import type { AppOptions } from './app-options.ts';
import { validateSource } from './load-config-snapshot.ts';
import type { Store } from './open-store.ts';

interface ManagementDeps {
  readonly config: () => ConfigSnapshot;
  readonly audit: AuditTrail;
  readonly serverLogs: ServerLogs | undefined;
  /** Returns undefined if the configuration file is not watched. */
  readonly reload: () => Pick<ConfigReloader, 'reload' | 'state'> | undefined;
  /** Returns the URL of the HTTP endpoint. */
  readonly url: () => string | undefined;
  readonly isApproved: ServerEditorDeps['isApproved'];
  /** Undefined unless several gateways share a database. */
  readonly shared: SharedConfigStore | undefined;
}

/** Gives commands, the admin API and models access to the configured servers. The code of the editor is loaded on first use. */
export function openManagement(options: AppOptions, deps: ManagementDeps): ManagementAccess {
  const { serverLogs, reload } = deps;
  const isFixed = options.text !== undefined;
  let editor: Promise<ServerEditor> | undefined;
  return {
    isFixed,
    editor: () => (editor ??= isFixed ? Promise.reject(noFileError(options)) : loadEditor(options, deps)),
    platform: options.platform,
    configStatus: () => reload()?.state ?? { needsRestart: [] },
    log: (name, which) => ({
      file: serverLogs?.fileOf(name) ?? '',
      ...(serverLogs?.tail(name, which) ?? { lines: [], hasMore: false, next: 0 }),
    }),
    registry: async (signal) => {
      const { OFFICIAL_REGISTRY_URL, RegistryClient } = await import('../setup/registry/registry-client.ts');
      return new RegistryClient(options.env['TRUNKLINE_REGISTRY'] ?? OFFICIAL_REGISTRY_URL, {
        fetch,
        signal,
      });
    },
  };
}

function noFileError({ isTextFromEnvironment }: AppOptions): GatewayError {
  const message =
    isTextFromEnvironment === true
      ? `The configuration is in the variable ${INLINE_CONFIG_VARIABLE}; there is no file to change.`
      : 'The servers were named on the command line; there is no file to change.';
  return new GatewayError('CONFIG_READ_ONLY', message);
}

async function loadEditor(options: AppOptions, deps: ManagementDeps): Promise<ServerEditor> {
  const [editorModule, { readGatewayIdentity }, { removeBundles }] = await Promise.all([
    import('../setup/manage/server-editor.ts'),
    import('../setup/import/gateway-entry.ts'),
    import('../setup/manage/bundle/bundle-archive.ts'),
  ]);
  const { platform, home, env, version } = options;
  // main.js is in the same folder as the worker.
  const program = fileURLToPath(new URL('main.js', options.auditWorker));
  return new editorModule.ServerEditor({
    file: deps.config().file,
    version,
    shared: deps.shared,
    environment: { platform, home, env, cwd: home },
    readIdentity: (configText) =>
      readGatewayIdentity(program, { configText, addresses: listAddresses(deps.url()) }),
    trustDir: resolveLocations(options).stateDir,
    apply: () => applyChange(deps),
    isApproved: deps.isApproved,
    record: (event) => deps.audit.record(event),
    onRemoved: async (name) => {
      deps.serverLogs?.forget(name);
      await removeBundles(options.stateDir, name);
    },
  });
}

/** Reloads the configuration, and reports whether the gateway uses it now. */
async function applyChange({ reload, shared }: ManagementDeps): Promise<ApplyResult> {
  const reloader = reload();
  if (reloader === undefined) return { state: 'later', reason: 'No gateway runs with this configuration.' };
  await reloader.reload();
  const { problem } = reloader.state;
  if (problem !== undefined) return { state: 'later', reason: problem.message };
  return { state: 'applied', isShared: shared === undefined ? undefined : true };
}

function listAddresses(url: string | undefined): readonly string[] {
  if (url === undefined) return [];
  const { hostname, port } = new URL(url);
  return [`${hostname}:${port === '' ? '80' : port}`];
}

/** Opens the store of shared changes if several gateways share a database, each with a configuration file of its own. */
export async function openSharedServers(
  { file, version, text }: Pick<AppOptions, 'file' | 'version' | 'text'>,
  {
    store,
    key,
    log,
  }: { readonly store: Store; readonly key: { get(): Promise<Buffer> }; readonly log: Logger },
): Promise<SharedServerStore | undefined> {
  if (store.place.server === undefined || text !== undefined) return undefined;
  const storeModule = await import('../setup/manage/shared-server-store.ts');
  return new storeModule.SharedServerStore({
    file,
    version,
    database: store.database,
    key,
    now: Date.now,
    log,
  });
}

/** Applies the shared changes at startup, so that the first client sees every server. If they cannot be used, starts without them. */
export async function applySharedServers(
  options: Pick<AppOptions, 'file' | 'version' | 'servers'>,
  start: {
    readonly servers: SharedServerStore;
    readonly text: string;
    readonly snapshot: ConfigSnapshot;
    readonly log: Logger;
  },
): Promise<ConfigSnapshot> {
  const { servers, text, snapshot, log } = start;
  try {
    const applied = await servers.applyTo(text);
    return applied === text ? snapshot : await validateSource(options, applied);
  } catch (error) {
    log.warn('Servers that were added at other gateways cannot be used; starting without them.', {
      reason: String(error),
    });
    return snapshot;
  }
}
