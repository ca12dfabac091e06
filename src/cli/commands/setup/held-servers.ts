import type { AdminHeldItem } from '../../../admin/contract/approval-contract.ts';
import { quoteShellWord } from '../../../core/lib/quote-shell-word.ts';
import { readServerTrust } from '../../../setup/manage/config-entries.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { CliContext } from '../../context.ts';
import { toOneLine } from '../../sanitize.ts';
import { openGatewayConnection } from '../../gateway-client/gateway-connection.ts';
import { openEditableConfig } from './editable-config.ts';
import type { EditableConfig } from './editable-config.ts';
import { openServerChanges } from './server-changes.ts';

interface ConfigScope {
  /** The value of `--config`. */
  readonly config: string | undefined;
  readonly context: CliContext;
}

/** Returns the given servers that are held for approval, as a whole or in part. Does not start them. */
export async function findHeldServers(
  names: readonly string[],
  scope: ConfigScope,
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const held = new Set((await listHeldItems(scope)).map(({ server }) => server));
  return names.filter((name) => held.has(name));
}

async function listHeldItems({ config, context }: ConfigScope): Promise<readonly AdminHeldItem[]> {
  try {
    await using gateway = await openGatewayConnection(context, { config, gateway: 'any' });
    const { held } = await gateway.client.request('GET /api/approvals', {});
    return held.filter(({ reason }) => reason !== 'refused');
  } catch {
    return []; // The summary is optional. Commands that need the gateway report why it fails.
  }
}

/**
 * Returns the given servers whose entry has `"trust": "manual"`, for example because they were added without a terminal. Only such servers
 * are held as a whole.
 */
export function filterManuallyTrusted(
  names: readonly string[],
  { document }: Pick<EditableConfig, 'document'>,
): readonly string[] {
  return names.filter((name) => {
    const entry = document.servers.get(name);
    return isJsonObject(entry) && readServerTrust(entry) === 'manual';
  });
}

/** Removes `"trust": "manual"` from servers that the user has confirmed. Returns the servers that are still held. */
export async function approveHeldServers(
  names: readonly string[],
  scope: ConfigScope,
): Promise<readonly string[]> {
  for (const name of names) {
    // The configuration is read again for each server, because the previous update has changed it.
    const config = await openEditableConfig(scope.config, scope.context);
    if (filterManuallyTrusted([name], config).length === 0) continue;
    const changes = await openServerChanges(config, { context: scope.context, isPerson: true });
    await changes.update(name, { trust: null });
  }
  return findHeldServers(names, scope);
}

/** Prints which servers are held for approval as a whole, and which have held entries. */
export async function printHeldSummary(scope: ConfigScope): Promise<void> {
  const { out } = scope.context;
  const held = await listHeldItems(scope);
  const servers = new Set(held.filter(({ kind }) => kind === 'server').map(({ server }) => server));
  const partlyHeld = new Set(held.map(({ server }) => server).filter((server) => !servers.has(server)));
  const formatNames = (names: ReadonlySet<string>): string => [...names].map(toOneLine).join(', ');
  if (servers.size > 0)
    out.prose(
      `Held for approval: ${formatNames(servers)}. None of ${servers.size === 1 ? 'its' : 'their'} tools can be called yet. Review with: trunkline approvals`,
    );
  if (partlyHeld.size > 0)
    out.prose(
      `Held for approval: some entries of ${formatNames(partlyHeld)}. Review with: trunkline approvals`,
    );
}

/** Reports held servers, with the commands that accept them. */
export function noteHeldServers(
  names: readonly string[],
  { out }: CliContext,
  reason = `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} held for approval.`,
): void {
  if (names.length === 0) return;
  out.note(`${reason} Accept with:`);
  for (const name of names) out.note(`  trunkline approvals accept ${quoteShellWord(name)} --all`);
}
