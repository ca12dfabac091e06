import { dirname, join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import type { Listing } from '../../catalog/listing.ts';
import { GatewayError } from '../../model/errors.ts';
import { LOCK_FILE } from '../../policy/approvals/lock/lock.ts';
import type { Lock } from '../../policy/approvals/lock/lock.ts';
import { readLock } from '../../policy/approvals/lock/read-lock.ts';
import { writeLock } from '../../policy/approvals/lock/write-lock.ts';
import { subjectsOf } from '../../policy/approvals/subject.ts';
import type { Subject } from '../../policy/approvals/subject.ts';
import type { AdminDifference } from '../contract/approval-contract.ts';
import { definitionChanges } from '../shown/definition-changes.ts';
import type { AdminDeps } from '../deps.ts';
import { route } from '../route.ts';
import type { AdminApp } from '../route.ts';

/** What a lockfile would say now; every server is listed anew for it. */
export function lockRoutes(app: AdminApp, deps: AdminDeps): void {
  const { servers } = deps.gateway;
  route(app, 'GET /api/lock', async () => {
    const { file: configFile, disabled } = deps.config();
    const file = join(dirname(configFile), LOCK_FILE);
    await Promise.all(servers.names().map((name) => servers.refresh(name)));
    const listings = servers.names().map((name) => {
      const listing = servers.listing(name);
      if (listing === undefined)
        throw new GatewayError('UPSTREAM_UNAVAILABLE', `Server "${name}" could not be listed.`);
      return listing;
    });
    const exists = existsSync(file);
    const lock = exists ? readLock(file, readFileSync(file, 'utf8')) : undefined;
    const text = writeLock(listings);
    const differences = differencesOf(listings, lock, new Set(disabled));
    return { file, exists, text, entries: listings.flatMap(subjectsOf).length, differences };
  });
}

function differencesOf(
  listings: readonly Listing[],
  lock: Lock | undefined,
  disabled: ReadonlySet<string>,
): readonly AdminDifference[] {
  const offered = new Map<string, readonly Subject[]>(
    listings.map((listing) => [listing.upstream, subjectsOf(listing)]),
  );
  const locked = [...(lock?.servers ?? [])].filter(([server]) => !disabled.has(server));
  const names = [...new Set([...offered.keys(), ...locked.map(([name]) => name)])].toSorted();
  return names.flatMap((server) =>
    ofServer(server, offered.get(server) ?? [], lock?.servers.get(server)?.subjects ?? []),
  );
}

function ofServer(
  server: string,
  offered: readonly Subject[],
  locked: readonly Subject[],
): readonly AdminDifference[] {
  const keyOf = ({ kind, name }: Subject): string => `${kind} ${name}`;
  const before = new Map(locked.map((each) => [keyOf(each), each]));
  const after = new Map(offered.map((each) => [keyOf(each), each]));
  return [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    const either = is ?? was;
    if (either === undefined || was?.fingerprint === is?.fingerprint) return [];
    const difference = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    const changes = difference === 'removed' ? [] : definitionChanges(was?.definition, is?.definition);
    return [{ server, kind: either.kind, name: either.name, difference, changes }];
  });
}
