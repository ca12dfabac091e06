import { dirname, join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import type { Listing } from '../../catalog/listing.ts';
import { GatewayError } from '../../core/errors.ts';
import { LOCKFILE_NAME } from '../../policy/approvals/lockfile/lockfile.ts';
import type { Lockfile } from '../../policy/approvals/lockfile/lockfile.ts';
import { parseLockfile } from '../../policy/approvals/lockfile/parse-lockfile.ts';
import { formatLockfile } from '../../policy/approvals/lockfile/format-lockfile.ts';
import { isDecisionAbout, listApprovalSubjects } from '../../policy/approvals/approval-subject.ts';
import type { ApprovalSubject } from '../../policy/approvals/approval-subject.ts';
import { addRoute } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';
import type { AdminLockDifference } from '../contract/approval-contract.ts';
import { compareDefinitions } from '../presenters/compare-definitions.ts';

/** Adds the route that returns the lockfile for the current listings. It lists every server again. */
export function addLockRoutes(app: AdminApp, deps: AdminDeps): void {
  const { servers } = deps.gateway;
  addRoute(app, 'GET /api/lock', async () => {
    const { file: configFile, disabled } = deps.config();
    const file = join(dirname(configFile), LOCKFILE_NAME);
    await Promise.all(servers.names().map((name) => servers.refresh(name)));
    const listings = servers.names().map((name) => {
      const listing = servers.listing(name);
      if (listing === undefined)
        throw new GatewayError('UPSTREAM_UNAVAILABLE', `Server "${name}" could not be listed.`);
      return listing;
    });
    const exists = existsSync(file);
    const lock = exists ? parseLockfile(file, readFileSync(file, 'utf8')) : undefined;
    const text = formatLockfile(listings);
    const differences = compareWithLockfile(listings, lock, new Set(disabled));
    return { file, exists, text, entries: listings.flatMap(listApprovalSubjects).length, differences };
  });
}

function compareWithLockfile(
  listings: readonly Listing[],
  lock: Lockfile | undefined,
  disabled: ReadonlySet<string>,
): readonly AdminLockDifference[] {
  const offered = new Map<string, readonly ApprovalSubject[]>(
    listings.map((listing) => [listing.upstream, listApprovalSubjects(listing)]),
  );
  const locked = [...(lock?.servers ?? [])].filter(([server]) => !disabled.has(server));
  const names = [...new Set([...offered.keys(), ...locked.map(([name]) => name)])].toSorted();
  return names.flatMap((server) =>
    compareServer(server, offered.get(server) ?? [], lock?.servers.get(server)?.subjects ?? []),
  );
}

function compareServer(
  server: string,
  offered: readonly ApprovalSubject[],
  locked: readonly ApprovalSubject[],
): readonly AdminLockDifference[] {
  const keyOf = ({ kind, name }: ApprovalSubject): string => `${kind} ${name}`;
  const before = new Map(locked.map((subject) => [keyOf(subject), subject]));
  const after = new Map(offered.map((subject) => [keyOf(subject), subject]));
  return [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((key) => {
    const [old, current] = [before.get(key), after.get(key)];
    const subject = current ?? old;
    if (subject === undefined || (current && isDecisionAbout(current, old?.fingerprint))) return [];
    const difference = old === undefined ? 'added' : current === undefined ? 'removed' : 'changed';
    const changes = difference === 'removed' ? [] : compareDefinitions(old?.definition, current?.definition);
    return [{ server, kind: subject.kind, name: subject.name, difference, changes }];
  });
}
