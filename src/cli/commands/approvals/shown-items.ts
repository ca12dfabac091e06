import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { AdminNamed } from '../../../admin/contract/approval-contract.ts';
import { writeFileAtomic } from '../../../lib/atomic-file.ts';
import { GatewayError } from '../../../model/errors.ts';
import { isJsonObject } from '../../../model/json.ts';

const FILE = 'shown-approvals.json';

/** Notes what a person was shown, so that what they accept afterwards is that and nothing else. */
export async function noteShown(stateDir: string, held: readonly AdminNamed[]): Promise<void> {
  const items = held.map(({ server, kind, name, fingerprint }) => ({ server, kind, name, fingerprint }));
  // Best effort: where nothing can be written, nothing is compared.
  await writeFileAtomic(join(stateDir, FILE), JSON.stringify({ items }), 0o600).catch(() => {});
}

/** Throws when something is not what was shown, or has come since a person looked at its server. Who never looked has said so. */
export async function checkShown(stateDir: string, items: readonly AdminNamed[]): Promise<void> {
  const shown = await readShown(stateDir);
  const isPart = ({ kind }: AdminNamed): boolean => kind !== 'server';
  const other = items.find((item) => {
    const before = shown.find((each) => isSamePlace(each, item));
    if (before !== undefined) return before.fingerprint !== item.fingerprint;
    return isPart(item) && shown.some((each) => isPart(each) && each.server === item.server);
  });
  if (other === undefined) return;
  const { server, kind, name, fingerprint } = other;
  const what = kind === 'tool' || kind === 'prompt' ? `The ${kind} "${name}" of` : 'What is held of';
  throw new GatewayError(
    'REVISION_CONFLICT',
    `${what} server "${server}" is not what trunkline approvals showed; look again, then accept it.`,
    { details: { server, kind, name, found: fingerprint } },
  );
}

function isSamePlace(one: AdminNamed, other: AdminNamed): boolean {
  return one.server === other.server && one.kind === other.kind && one.name === other.name;
}

async function readShown(stateDir: string): Promise<readonly AdminNamed[]> {
  try {
    const value: unknown = JSON.parse(await readFile(join(stateDir, FILE), 'utf8'));
    const items = isJsonObject(value) ? value['items'] : undefined;
    return Array.isArray(items) ? (items as AdminNamed[]).filter(isJsonObject) : []; // We wrote it.
  } catch {
    return []; // Nobody looked yet.
  }
}
