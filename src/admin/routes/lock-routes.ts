import { dirname, join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import type { Listing } from '../../catalog/listing.ts';
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

/** Adds the route that returns the lockfile for the current listings. It fetches every listing again; a server whose listing cannot be fetched keeps its locked entries. */
export function addLockRoutes(app: AdminApp, deps: AdminDeps): void {
  const { servers } = deps.gateway;
  addRoute(app, 'GET /api/lock', async () => {
    const { file: configFile, disabled } = deps.config();
    const file = join(dirname(configFile), LOCKFILE_NAME);
    const names = servers.names();
    const outcomes = await Promise.allSettled(names.map((name) => servers.refresh(name)));
    const failed = names.filter((_, at) => outcomes[at]?.status === 'rejected');
    const listings = names.flatMap((name) => (failed.includes(name) ? [] : (servers.listing(name) ?? [])));
    const exists = existsSync(file);
    const lock = exists ? parseLockfile(file, readFileSync(file, 'utf8')) : undefined;
    const kept = failed.flatMap((name) => {
      const locked = lock?.servers.get(name);
      return locked === undefined ? [] : [[name, locked.subjects] as const];
    });
    const text = formatLockfile(listings, new Map(kept));
    const differences = compareWithLockfile(listings, lock, new Set([...disabled, ...failed]));
    const missing = failed.map((name) => ({ name, message: servers.unlistedError(name)?.message ?? '' }));
    const entries = listings.flatMap(listApprovalSubjects).length;
    return { file, exists, text, entries, differences, missing };
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
