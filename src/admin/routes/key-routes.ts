import type { StoredKey } from '../../auth/downstream/key-store.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { findSimilar } from '../../core/lib/find-similar.ts';
import { addRoute, readText, requireText } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import type { RouteDeps } from '../admin-deps.ts';
import { suggestNames } from '../calls/find-entry.ts';
import type { AdminKey } from '../contract/contract.ts';

const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 200;
const TIERS = ['read', 'write', 'destructive'] as const;

/** Adds the routes to list, create and revoke API keys. */
export function addKeyRoutes(app: AdminApp, deps: RouteDeps): void {
  const { keys, emit } = deps;
  addRoute(app, 'GET /api/keys', async () => (await keys.keys()).map((key) => presentKey(key, deps)));
  addRoute(app, 'POST /api/keys', async ({ body, caller }) => {
    const { key, text } = await createKey(body, caller, deps);
    emit({ event: 'keys', data: { name: key.name, action: 'add' } });
    return { ...presentKey(key, deps), key: text };
  });
  addRoute(app, 'POST /api/keys/:name/revoke', async ({ params, caller }) => {
    const name = params['name'] ?? '';
    const key = await keys.revokeKey(name, caller);
    if (key !== undefined) {
      emit({ event: 'keys', data: { name, action: 'revoke' } });
      return presentKey(key, deps);
    }
    const names = (await keys.keys()).map((known) => known.name);
    const hint = suggestNames(findSimilar(name, names, 1));
    throw new GatewayError('ENTRY_NOT_FOUND', `There is no key "${name}".${hint}`);
  });
}

function presentKey({ id, hash: _, ...key }: StoredKey, { config }: RouteDeps): AdminKey {
  const { auth } = config().value;
  return {
    ...key,
    start: `tl_${id}`,
    isAccepted: auth?.keys === true || auth?.authorizationServer !== undefined,
  };
}

function createKey(body: JsonObject, caller: Caller, { keys, config }: RouteDeps) {
  const { tier: tierText, expiresAt } = body;
  const profile = readText(body, 'profile');
  if (profile !== undefined && !keys.hasProfile(profile)) {
    const near = findSimilar(profile, Object.keys(config().value.profiles), 1);
    const hint = near.length === 0 ? ' Add it to "profiles" in the configuration first.' : suggestNames(near);
    throw new GatewayError('USAGE', `There is no profile "${profile}".${hint}`);
  }
  const tier = TIERS.find((known) => known === tierText);
  if (tierText !== undefined && tier === undefined)
    throw new GatewayError('USAGE', '"tier" must be "read", "write" or "destructive".');
  if (expiresAt !== undefined && !(typeof expiresAt === 'number' && expiresAt > Date.now()))
    throw new GatewayError('USAGE', '"expiresAt" must be a time in the future.');
  const rights = {
    groups: readNames(body, 'groups'),
    roles: readNames(body, 'roles'),
    profile,
    tier,
    expiresAt,
  };
  return keys.addKey(requireText(body, 'name'), rights, caller);
}

function readNames(body: JsonObject, key: string): readonly string[] {
  const value = body[key] ?? [];
  const isName = (item: unknown): item is string =>
    typeof item === 'string' && item !== '' && item.length <= MAX_NAME_LENGTH;
  if (Array.isArray(value) && value.length <= MAX_NAMES && value.every(isName)) return value;
  throw new GatewayError('USAGE', `"${key}" must be a list of at most ${MAX_NAMES} names.`);
}
