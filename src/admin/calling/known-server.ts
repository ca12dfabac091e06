import { nearest } from '../../lib/nearest.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { AdminDeps } from '../deps.ts';

/** A server that is in use; for every other name the error says what may have been meant, or that it is disabled. */
export function knownServer({ gateway, config }: AdminDeps, name: string): UpstreamName {
  const names = gateway.servers.names();
  const known = names.find((each) => each === name);
  if (known !== undefined) return known;
  const { disabled } = config();
  if (disabled.some((each) => each === name))
    throw new GatewayError(
      'ENTRY_NOT_FOUND',
      `Server "${name}" is disabled; use it again with: trunkline enable ${shellWord(name)}`,
      {
        details: { kind: 'server', near: [] },
      },
    );
  const near = nearest(name, [...names, ...disabled], 3);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((each) => `"${each}"`).join(', ')}?`;
  throw new GatewayError('ENTRY_NOT_FOUND', `There is no server "${name.slice(0, 200)}".${hint}`, {
    details: { kind: 'server', near },
  });
}
