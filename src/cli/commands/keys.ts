import type { AdminKey } from '../../admin/contract/contract.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { Tier } from '../../core/tier.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';

interface KeysAddOptions extends GlobalOptions {
  readonly profile?: string;
  readonly tier?: Tier;
  readonly expires?: string;
  readonly group?: readonly string[];
  readonly role?: readonly string[];
}

/** The units of `--expires`, in seconds. */
const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 };
const NOT_ACCEPTED =
  'The configuration does not accept keys yet. Add "auth": { "keys": true } to it with trunkline edit, then restart the gateway.';

/** Creates a key. Only the key goes to standard output, so that it can be piped. */
export function runKeysAdd(
  options: KeysAddOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { profile, tier, expires, group = [], role = [] } = options;
  const expiresAt = expires === undefined ? undefined : Date.now() + parseLifetime(expires);
  return withGateway({ config: options.config }, context, async ({ client, signal }) => {
    const { out } = context;
    const { key, ...created } = await client.request(
      'POST /api/keys',
      {
        name,
        groups: group,
        roles: role,
        profile,
        tier,
        expiresAt,
      },
      { signal },
    );
    if (out.style.format === 'json') out.json({ key, ...keyToJson(created) });
    else {
      out.line(key);
      out.note(`This is the key of "${name}" (${formatPermissions(created)}). It is not shown again.`);
      out.note(`Clients send it as the header "Authorization: Bearer ${created.start}…".`);
    }
    if (!created.isAccepted) out.note(NOT_ACCEPTED);
    return 0;
  });
}

export function runKeysList(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  return withGateway({ config: options.config }, context, async ({ client, signal }) => {
    const { out } = context;
    const keys = await client.request('GET /api/keys', {}, { signal });
    if (out.style.format === 'json') out.json(keys.map(keyToJson));
    else if (keys.length === 0) out.line('There are no keys. Create one with: trunkline keys add NAME');
    else {
      const head = ['name', 'starts with', 'allows', 'expires', 'last used'];
      const rows = keys.map((key) => [
        { text: key.name, paint: out.paint.bold },
        key.start,
        formatPermissions(key),
        formatExpiry(key),
        key.usedAt === undefined ? 'never' : formatUtcTime(key.usedAt),
      ]);
      out.table([head.map((text) => ({ text, paint: out.paint.dim })), ...rows], {
        lastColumn: 'wrap',
        dropOrder: [1, 4],
      });
    }
    if (keys.some(({ isAccepted }) => !isAccepted)) out.note(NOT_ACCEPTED);
    return 0;
  });
}

export function runKeysRevoke(
  options: GlobalOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  return withGateway({ config: options.config }, context, async ({ client, signal }) => {
    const { out } = context;
    const key = await client.request('POST /api/keys/:name/revoke', { name }, { signal });
    if (out.style.format === 'json') out.json({ revoked: true, ...keyToJson(key) });
    else out.line(`Revoked the key of "${name}"`);
    return 0;
  });
}

function parseLifetime(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,5})([mhdwy])$/.exec(text) ?? [];
  const seconds = Number(amount) * (UNITS[unit] ?? Number.NaN);
  if (seconds > 0) return seconds * 1000;
  throw new GatewayError('USAGE', `--expires "${text}" is not a duration. Write it as 12h, 30d or 1y.`);
}

function formatPermissions({ profile, tier, groups = [], roles = [] }: AdminKey): string {
  const parts = [
    profile === undefined ? 'any profile' : `profile ${profile}`,
    tier === undefined ? undefined : `tier ${tier}`,
    groups.length === 0 ? undefined : `groups ${groups.join(', ')}`,
    roles.length === 0 ? undefined : `roles ${roles.join(', ')}`,
  ];
  return parts.filter((part) => part !== undefined).join('; ');
}

function formatExpiry({ expiresAt }: AdminKey): string {
  if (expiresAt === undefined) return 'never';
  return expiresAt <= Date.now() ? `expired ${formatUtcTime(expiresAt)}` : formatUtcTime(expiresAt);
}

function formatUtcTime(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}

function keyToJson({ createdAt, expiresAt, usedAt, ...key }: AdminKey): object {
  const toIso = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : new Date(at).toISOString();
  return {
    ...key,
    createdAt: toIso(createdAt),
    expiresAt: toIso(expiresAt),
    usedAt: toIso(usedAt),
  };
}
