import type { AdminKey } from '../../admin/contract/contract.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { Tier } from '../../model/tier.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { onLine } from '../line/on-line.ts';

interface AddOptions extends GlobalOptions {
  readonly profile?: string;
  readonly tier?: Tier;
  readonly expires?: string;
  readonly group?: readonly string[];
  readonly role?: readonly string[];
}

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 };
const NOT_ACCEPTED =
  'The configuration does not accept keys yet: add "auth": { "keys": true } to it and start the gateway again.';

/** The key goes to standard output and everything about it to standard error, so that a pipe gets the key alone. */
export function addKey(
  options: AddOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { profile, tier, expires, group = [], role = [] } = options;
  const expiresAt = expires === undefined ? undefined : Date.now() + parseLife(expires);
  return onLine(onlyConfig(options), context, async ({ client, signal }) => {
    const { out } = context;
    const { key, ...made } = await client.ask(
      'POST /api/keys',
      {
        ...{ name, groups: group, roles: role },
        ...(profile !== undefined && { profile }),
        ...(tier !== undefined && { tier }),
        ...(expiresAt !== undefined && { expiresAt }),
      },
      { signal },
    );
    if (out.style.format === 'json') out.json({ key, ...readable(made) });
    else {
      out.line(key);
      out.note(`This is the key of "${name}" (${mayOf(made)}). It is not shown again.`);
      out.note(`Clients send it as the header "Authorization: Bearer ${made.start}…".`);
    }
    if (!made.isAccepted) out.note(NOT_ACCEPTED);
    return 0;
  });
}

export function listKeys(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  return onLine(onlyConfig(options), context, async ({ client, signal }) => {
    const { out } = context;
    const all = await client.ask('GET /api/keys', {}, { signal });
    if (out.style.format === 'json') out.json(all.map(readable));
    else if (all.length === 0) out.line('There are no keys; make one with: trunkline keys add NAME');
    else {
      const head = ['name', 'begins', 'may', 'ends', 'last used'];
      const rows = all.map((key) => [
        { text: key.name, paint: out.paint.bold },
        key.start,
        mayOf(key),
        endOf(key),
        key.usedAt === undefined ? 'never' : when(key.usedAt),
      ]);
      out.table([head.map((text) => ({ text, paint: out.paint.dim })), ...rows], {
        last: 'wrap',
        drop: [1, 4],
      });
    }
    if (all.some(({ isAccepted }) => !isAccepted)) out.note(NOT_ACCEPTED);
    return 0;
  });
}

export function revokeKey(
  options: GlobalOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  return onLine(onlyConfig(options), context, async ({ client, signal }) => {
    const { out } = context;
    const key = await client.ask('POST /api/keys/:name/revoke', { name }, { signal });
    if (out.style.format === 'json') out.json({ revoked: true, ...readable(key) });
    else out.line(`Revoked the key of "${name}"`);
    return 0;
  });
}

function onlyConfig({ config }: GlobalOptions): GlobalOptions {
  return config === undefined ? {} : { config };
}

function parseLife(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,5})([mhdwy])$/.exec(text) ?? [];
  const seconds = Number(amount) * (UNITS[unit] ?? Number.NaN);
  if (seconds > 0) return seconds * 1000;
  throw new GatewayError('USAGE', `--expires must be such as 12h, 30d or 1y, and it is "${text}".`);
}

function mayOf({ profile, tier, groups = [], roles = [] }: AdminKey): string {
  const parts = [
    profile === undefined ? 'any profile' : `profile ${profile}`,
    tier === undefined ? undefined : `tier ${tier}`,
    groups.length === 0 ? undefined : `groups ${groups.join(', ')}`,
    roles.length === 0 ? undefined : `roles ${roles.join(', ')}`,
  ];
  return parts.filter((part) => part !== undefined).join('; ');
}

function endOf({ expiresAt }: AdminKey): string {
  if (expiresAt === undefined) return 'never';
  return expiresAt <= Date.now() ? `over since ${when(expiresAt)}` : when(expiresAt);
}

function when(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}

function readable({ createdAt, expiresAt, usedAt, ...key }: AdminKey): object {
  const iso = (at: number): string => new Date(at).toISOString();
  return {
    ...key,
    createdAt: iso(createdAt),
    ...(expiresAt !== undefined && { expiresAt: iso(expiresAt) }),
    ...(usedAt !== undefined && { usedAt: iso(usedAt) }),
  };
}
