import { createAdminClient } from '../../../admin/admin-client.ts';
import type { AdminSecret } from '../../../admin/contract/contract.ts';
import type { CliContext } from '../../context.ts';
import { findReachableGateways } from '../../gateway-client/reachable-gateways.ts';
import { createSecretEvent } from '../../../observability/audit/audit-record.ts';
import type { EditableConfig } from './editable-config.ts';
import { recordEvents } from './server-changes.ts';
import { locateConfig } from '../../locate-config.ts';

/** Stores, lists and deletes secrets: through the running gateway, which restarts the servers concerned, or in this process. */
export interface SecretAccess {
  write(name: string, value: string): Promise<Pick<AdminSecret, 'place' | 'servers'>>;
  list(): Promise<readonly Omit<AdminSecret, 'servers'>[]>;
  remove(name: string): Promise<boolean>;
}

/** Runs `work` with the secrets of a configuration. */
export async function withSecrets<T>(
  flag: string | undefined,
  context: CliContext,
  work: (secrets: SecretAccess) => Promise<T>,
): Promise<T> {
  const { file, text, stateDir } = await locateConfig(flag, context);
  const [gateway] = await findReachableGateways(stateDir);
  if (gateway !== undefined && gateway.record.config === file && gateway.record.version === context.version) {
    const { createSocketFetch } = await import('../../../app/shared-gateway/socket-fetch.ts');
    const client = createAdminClient(createSocketFetch(gateway.record.socket));
    return work({
      write: (name, value) => client.request('PUT /api/secrets/:name', { name, value }),
      list: () => client.request('GET /api/secrets', {}),
      remove: async (name) => (await client.request('DELETE /api/secrets/:name', { name })).removed,
    });
  }
  await using secrets = await openLocalSecrets({ file, text, stateDir }, context);
  return await work(secrets);
}

const CLI_CALLER = { id: 'cli', via: 'cli', profile: 'default' } as const;

/** Opens the secrets of a configuration that may not be saved yet. */
export function openDraftSecrets(
  { file, stateDir, document }: EditableConfig,
  context: CliContext,
): Promise<SecretAccess & AsyncDisposable> {
  return openLocalSecrets({ file, text: document.text, stateDir }, context);
}

/** Opens the secrets in this process. Each change is recorded in the audit log. */
async function openLocalSecrets(
  place: { readonly file: string; readonly text: string | undefined; readonly stateDir: string },
  context: CliContext,
): Promise<SecretAccess & AsyncDisposable> {
  const { openSecrets } = await import('../../../app/open-secrets.ts');
  const { env, home, platform, version } = context;
  const secrets = await openSecrets({ ...place, env, home, platform, version });
  const record = (action: 'store-secret' | 'delete-secret', name: string): Promise<void> =>
    recordEvents([createSecretEvent(action, name, CLI_CALLER)], { ...place, context });
  return {
    write: async (name, value) => {
      const storedIn = await secrets.write(name, value);
      await record('store-secret', name);
      return { place: storedIn, servers: [] };
    },
    list: () => secrets.list(),
    remove: async (name) => {
      const removed = await secrets.remove(name);
      if (removed) await record('delete-secret', name);
      return removed;
    },
    [Symbol.asyncDispose]: () => secrets[Symbol.asyncDispose](),
  };
}

/** Describes where a secret is stored. */
export function describeSecretPlace(place: AdminSecret['place']): string {
  return place === 'keychain' ? 'the system keychain' : 'the encrypted database of Trunkline';
}
