import { fileURLToPath } from 'node:url';
import type { ManagementAccess } from '../../admin/deps.ts';
import type { ConfigSnapshot } from '../../config/config.ts';
import { INLINE_CONFIG } from '../../config/file/inline.ts';
import { locations } from '../../config/paths.ts';
import type { ConfigReload } from '../../config/reload/config-reload.ts';
import type { Applied } from '../../manage/change-results.ts';
import type { ServerChanges, ServerChangesDeps, SharedConfig } from '../../manage/server-changes.ts';
import { GatewayError } from '../../model/errors.ts';
import type { AuditTrail } from '../../observe/audit/audit-trail.ts';
import type { ServerLogs } from '../../observe/server-log/server-logs.ts';
import type { AppOptions } from '../app-options.ts';

interface ManagementDeps {
  readonly config: () => ConfigSnapshot;
  readonly audit: AuditTrail;
  readonly serverLogs: ServerLogs | undefined;
  /** What takes a changed file into use; absent where nothing does. */
  readonly reload: () => Pick<ConfigReload, 'look' | 'state'> | undefined;
  /** Where HTTP clients find us. */
  readonly url: () => string | undefined;
  readonly isApproved: ServerChangesDeps['isApproved'];
  /** Where gateways share what was changed. */
  readonly shared: SharedConfig | undefined;
}

/** Changing servers by program; what does it is loaded for the first who wants to. */
export function openManagement(options: AppOptions, deps: ManagementDeps): ManagementAccess {
  const { serverLogs, reload } = deps;
  let loading: Promise<ServerChanges> | undefined;
  return {
    isFixed: options.text !== undefined,
    changes: () => (loading ??= options.text === undefined ? loadChanges(options, deps) : fixed(options)),
    platform: options.platform,
    inUse: () => reload()?.state ?? { needsRestart: [] },
    log: (name, which) => ({
      file: serverLogs?.fileOf(name) ?? '',
      ...(serverLogs?.tail(name, which) ?? { lines: [], hasMore: false, next: 0 }),
    }),
    registry: async (signal) => {
      const { OFFICIAL_REGISTRY, Registry } = await import('../../registry/registry.ts');
      return new Registry(options.env['TRUNKLINE_REGISTRY'] ?? OFFICIAL_REGISTRY, { fetch, signal });
    },
  };
}

/** Servers of the command line, or of a variable, are in no file that could be changed. */
function fixed({ isInline }: AppOptions): Promise<never> {
  const message =
    isInline === true
      ? `The configuration is in the variable ${INLINE_CONFIG}; there is no file to change.`
      : 'These servers were named on the command line; there is no file to change.';
  return Promise.reject(new GatewayError('CONFIG_READ_ONLY', message));
}

async function loadChanges(options: AppOptions, deps: ManagementDeps): Promise<ServerChanges> {
  const [{ ServerChanges: Loaded }, { ownProgram }] = await Promise.all([
    import('../../manage/server-changes.ts'),
    import('../../import/own-program.ts'),
  ]);
  const { platform, home, env, version } = options;
  const { file } = deps.config();
  // The program lies beside what it starts.
  const program = fileURLToPath(new URL('main.js', options.auditWorker));
  return new Loaded({
    ...{ file, version, shared: deps.shared },
    places: { platform, home, env, cwd: home },
    own: (configText) => ownProgram(program, { configText, addresses: addressOf(deps.url()) }),
    trustDir: locations(options).stateDir,
    applied: () => applied(deps),
    isApproved: deps.isApproved,
    record: (event) => deps.audit.record(event),
    onRemoved: (name) => deps.serverLogs?.forget(name),
  });
}

/** Waits until what is in the file is what runs, or it is known why not. */
async function applied({ reload, shared }: ManagementDeps): Promise<Applied> {
  const own = reload();
  if (own === undefined) return { state: 'later', reason: 'No gateway runs with this configuration.' };
  await own.look();
  const { problem } = own.state;
  if (problem !== undefined) return { state: 'later', reason: problem.message };
  return { state: 'applied', ...(shared !== undefined && { isShared: true }) };
}

function addressOf(url: string | undefined): readonly string[] {
  if (url === undefined) return [];
  const { hostname, port } = new URL(url);
  return [`${hostname}:${port === '' ? '80' : port}`];
}
