import type { AdminHeld, AdminNamed } from '../../../admin/contract/approval-contract.ts';
import { nearest } from '../../../lib/nearest.ts';
import { GatewayError } from '../../../model/errors.ts';

/** What a name means: one held entry, or everything that is held of a server; a held server itself comes first. */
export function chosenItems(
  held: readonly AdminHeld[],
  name: string,
  fingerprint: string | undefined,
): readonly AdminNamed[] {
  const entries = held.filter((each) => each.exposed === name);
  const own = held.filter((each) => each.name === name && each.name !== '');
  // What was refused by its name is accepted by its name only.
  const ofServer = held.filter((each) => each.server === name && each.reason !== 'refused');
  const servers = ofServer.filter(({ kind }) => kind === 'server');
  const found = [entries, servers, ofServer, own].find((each) => each.length > 0) ?? [];
  if (found.length === 0) throw unknown(held, name);
  if (found === own && new Set(own.map(({ server }) => server)).size > 1)
    throw new GatewayError(
      'USAGE',
      `Several servers have "${name}"; say which: ${own.map(({ exposed }) => exposed).join(', ')}.`,
    );
  const items = found.map(({ server, kind, name: each, fingerprint: offered }) => ({
    ...{ server, kind, name: each, fingerprint: offered },
  }));
  if (fingerprint === undefined) return items;
  const matching = items.filter((each) => each.fingerprint === fingerprint);
  if (matching.length > 0) return matching;
  throw new GatewayError(
    'REVISION_CONFLICT',
    `"${name}" is not offered with the fingerprint ${fingerprint} any more; look again with: trunkline approvals`,
    { details: { expected: fingerprint, found: items.map((each) => each.fingerprint) } },
  );
}

function unknown(held: readonly AdminHeld[], name: string): GatewayError {
  const names = held.flatMap(({ exposed, server }) => [server, ...(exposed === undefined ? [] : [exposed])]);
  const near = nearest(name, new Set(names), 3);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((each) => `"${each}"`).join(', ')}?`;
  return new GatewayError('ENTRY_NOT_FOUND', `Nothing of the name "${name}" waits for you.${hint}`, {
    details: { kind: 'approval', near },
  });
}
