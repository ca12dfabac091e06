import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { AdminItemReference } from '../../../admin/contract/approval-contract.ts';
import { writeFileAtomic } from '../../../core/lib/write-file-atomic.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';

const FILE = 'shown-approvals.json';

/** An item as `trunkline approvals` printed it. */
interface ListedItem extends AdminItemReference {
  /** Whether the whole definition was printed; absent in files of older versions. */
  readonly isWhole?: boolean;
}

/**
 * Stores what `trunkline approvals` printed, so that the user accepts exactly these definitions afterwards. A definition that an earlier
 * list printed in full still counts as printed in full.
 */
export async function rememberListedApprovals(stateDir: string, held: readonly ListedItem[]): Promise<void> {
  const earlier = await readListedApprovals(stateDir);
  const items = held.map(({ server, kind, name, fingerprint, isWhole }) => {
    const wasWhole = earlier.some(
      (item) =>
        isSameItem(item, { server, kind, name, fingerprint }) &&
        item.fingerprint === fingerprint &&
        item.isWhole === true,
    );
    return { server, kind, name, fingerprint, isWhole: isWhole === true || wasWhole };
  });
  // The list is printed even if the file cannot be written. `accept` then compares with the previous list, if there is one.
  await writeFileAtomic(join(stateDir, FILE), JSON.stringify({ items }), 0o600).catch(() => {});
}

/**
 * Throws if an item changed after `trunkline approvals` printed it, or if the list printed other entries of its server but not this
 * one. Items of servers that were never printed pass.
 */
export async function assertListedUnchanged(
  stateDir: string,
  items: readonly AdminItemReference[],
): Promise<void> {
  const listed = await readListedApprovals(stateDir);
  const isEntry = ({ kind }: AdminItemReference): boolean => kind !== 'server';
  const changed = items.find((item) => {
    const before = listed.find((listedItem) => isSameItem(listedItem, item));
    if (before !== undefined) return before.fingerprint !== item.fingerprint;
    return isEntry(item) && listed.some((other) => isEntry(other) && other.server === item.server);
  });
  if (changed === undefined) return;
  const { server, kind, name, fingerprint } = changed;
  const subject = kind === 'tool' || kind === 'prompt' ? `The ${kind} "${name}" of` : 'An entry of';
  throw new GatewayError(
    'REVISION_CONFLICT',
    `${subject} server "${server}" changed after you listed it. Review it with trunkline approvals, then accept it again.`,
    { details: { server, kind, name, found: fingerprint } },
  );
}

/** Throws if `trunkline approvals` printed the current definition of an item only in part. Definitions that were never printed pass. */
export async function assertShownWhole(
  stateDir: string,
  items: readonly AdminItemReference[],
): Promise<void> {
  const listed = await readListedApprovals(stateDir);
  const cut = items.find((item) => {
    const before = listed.find((listedItem) => isSameItem(listedItem, item));
    return before?.fingerprint === item.fingerprint && before.isWhole !== true;
  });
  if (cut === undefined) return;
  const { server, kind, name } = cut;
  const subject = kind === 'tool' || kind === 'prompt' ? `The ${kind} "${name}" of server` : 'Server';
  throw new GatewayError(
    'USAGE',
    `${subject} "${server}" was not accepted, because a part of it has not been shown. Read all of it with trunkline approvals --full or in the dashboard, then accept it.`,
    { details: { server, kind, name } },
  );
}

function isSameItem(one: AdminItemReference, other: AdminItemReference): boolean {
  return one.server === other.server && one.kind === other.kind && one.name === other.name;
}

async function readListedApprovals(stateDir: string): Promise<readonly ListedItem[]> {
  try {
    const value: unknown = JSON.parse(await readFile(join(stateDir, FILE), 'utf8'));
    const items = isJsonObject(value) ? value['items'] : undefined;
    return Array.isArray(items) ? (items as ListedItem[]).filter(isJsonObject) : []; // rememberListedApprovals wrote it.
  } catch {
    return []; // The file does not exist before the first listing. An unreadable file counts as missing.
  }
}
