import type { AdminHeldItem, AdminItemReference } from '../../../admin/contract/approval-contract.ts';
import { findSimilar } from '../../../core/lib/find-similar.ts';
import { GatewayError } from '../../../core/errors.ts';

/** Returns the held items that a name selects: one entry, a held server, or all held entries of an accepted server. */
export function selectHeldItems(
  held: readonly AdminHeldItem[],
  name: string,
  fingerprint: string | undefined,
): readonly AdminItemReference[] {
  const byExposedName = held.filter((item) => item.exposed === name);
  const byOriginalName = held.filter((item) => item.name === name && item.name !== '');
  // Naming the server does not select entries that were refused. The user must name them.
  const byServer = held.filter((item) => item.server === name && item.reason !== 'refused');
  const servers = byServer.filter(({ kind }) => kind === 'server');
  // The first group with a match wins. `servers` comes before `byServer`, because a held server must be accepted before its entries.
  const found = [byExposedName, servers, byServer, byOriginalName].find((items) => items.length > 0) ?? [];
  if (found.length === 0) throw notFoundError(held, name);
  if (found === byOriginalName && new Set(found.map(({ server }) => server)).size > 1)
    throw new GatewayError(
      'USAGE',
      `Several servers have "${name}". Give one of ${found.map(({ exposed }) => exposed).join(', ')}.`,
    );
  const items = found.map((item) => ({
    server: item.server,
    kind: item.kind,
    name: item.name,
    fingerprint: item.fingerprint,
  }));
  if (fingerprint === undefined) return items;
  const matching = items.filter((item) => item.fingerprint === fingerprint);
  if (matching.length > 0) return matching;
  throw new GatewayError(
    'REVISION_CONFLICT',
    `"${name}" no longer has the fingerprint ${fingerprint}, because its definition changed. Review it with: trunkline approvals`,
    { details: { expected: fingerprint, found: items.map((item) => item.fingerprint) } },
  );
}

function notFoundError(held: readonly AdminHeldItem[], name: string): GatewayError {
  const names = held.flatMap(({ exposed, server }) => [server, ...(exposed === undefined ? [] : [exposed])]);
  const near = findSimilar(name, new Set(names), 3);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((similar) => `"${similar}"`).join(', ')}?`;
  return new GatewayError('ENTRY_NOT_FOUND', `Nothing named "${name}" is held for approval.${hint}`, {
    details: { kind: 'approval', near },
  });
}
