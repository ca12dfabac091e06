import type { StoredKey } from '../../auth/downstream/key-store.ts';
import { nearest } from '../../lib/nearest.ts';
import { GatewayError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { AdminKey } from '../contract/contract.ts';
import type { RouteDeps } from '../deps.ts';
import { optionalText, route, text } from '../route.ts';
import type { AdminApp } from '../route.ts';

const MAX_NAMES = 100;
const TIERS = ['read', 'write', 'destructive'] as const;

export function keyRoutes(app: AdminApp, { keys, config, tell }: RouteDeps): void {
  const shown = ({ id, hash: _, ...key }: StoredKey): AdminKey => {
    const { auth } = config().value;
    return {
      ...key,
      start: `tl_${id}`,
      isAccepted: auth?.keys === true || auth?.authorizationServer !== undefined,
    };
  };
  route(app, 'GET /api/keys', async () => (await keys.keys()).map(shown));
  route(app, 'POST /api/keys', async ({ body, caller }) => {
    const { tier, expiresAt } = body;
    const profile = optionalText(body, 'profile');
    if (profile !== undefined && !keys.hasProfile(profile)) {
      const [near] = nearest(profile, Object.keys(config().value.profiles), 1);
      const hint = near === undefined ? 'add it to "profiles" first' : `did you mean "${near}"?`;
      throw new GatewayError('USAGE', `There is no profile "${profile}"; ${hint}`);
    }
    const wanted = TIERS.find((one) => one === tier);
    if (tier !== undefined && wanted === undefined)
      throw new GatewayError('USAGE', `"tier" must be ${TIERS.join(', ')}.`);
    if (expiresAt !== undefined && !(typeof expiresAt === 'number' && expiresAt > Date.now()))
      throw new GatewayError('USAGE', '"expiresAt" must be a time to come.');
    const made = await keys.addKey(
      text(body, 'name'),
      {
        groups: names(body, 'groups'),
        roles: names(body, 'roles'),
        ...(profile !== undefined && { profile }),
        ...(wanted !== undefined && { tier: wanted }),
        ...(expiresAt !== undefined && { expiresAt }),
      },
      caller,
    );
    tell({ event: 'keys', data: { name: made.key.name, action: 'add' } });
    return { ...shown(made.key), key: made.text };
  });
  route(app, 'POST /api/keys/:name/revoke', async ({ params, caller }) => {
    const name = params['name'] ?? '';
    const key = await keys.revokeKey(name, caller);
    if (key !== undefined) {
      tell({ event: 'keys', data: { name, action: 'revoke' } });
      return shown(key);
    }
    const [near] = nearest(
      name,
      (await keys.keys()).map((one) => one.name),
      1,
    );
    const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
    throw new GatewayError('ENTRY_NOT_FOUND', `There is no key "${name}".${hint}`);
  });
}

function names(body: JsonObject, key: string): readonly string[] {
  const value = body[key] ?? [];
  const isFine = (one: unknown): one is string => typeof one === 'string' && one !== '' && one.length <= 200;
  if (Array.isArray(value) && value.length <= MAX_NAMES && value.every(isFine)) return value;
  throw new GatewayError('USAGE', `"${key}" must be a list of names.`);
}
