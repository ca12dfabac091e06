import type { Selection } from '../config/policy-config.ts';
import { matchesGlob } from '../lib/glob.ts';
import type { Entry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { Tier } from '../model/tier.ts';

/** What rules and profiles can see of an entry. */
export interface Subject {
  readonly kind: 'tool' | 'prompt' | 'resource';
  readonly upstream: UpstreamName;
  readonly tags: readonly string[];
  /** The name that clients see, and the server's own. */
  readonly names: readonly string[];
  readonly tier: Tier;
}

/** What the facts about servers make of an entry. */
export interface SubjectFacts {
  readonly tagsOf: (upstream: UpstreamName) => readonly string[];
  readonly tierOf: (entry: Extract<Entry, { kind: 'tool' }>) => Tier;
}

export function subjectOf(entry: Entry, facts: SubjectFacts): Subject {
  const { upstream } = entry;
  const tags = facts.tagsOf(upstream);
  switch (entry.kind) {
    case 'tool':
      return {
        kind: 'tool',
        upstream,
        tags,
        names: [entry.name, entry.definition.name],
        tier: facts.tierOf(entry),
      };
    case 'prompt':
      return { kind: 'prompt', upstream, tags, names: [entry.name, entry.definition.name], tier: 'read' };
    case 'resource':
      return { kind: 'resource', upstream, tags, names: [entry.uri, entry.definition.uri], tier: 'read' };
    case 'template':
      return {
        kind: 'resource',
        upstream,
        tags,
        names: [entry.uriTemplate, entry.definition.uriTemplate],
        tier: 'read',
      };
  }
}

/** Whether an entry is meant; what is not given does not count. */
export function selects(selection: Selection, subject: Subject): boolean {
  const { names, kinds, tiers } = selection;
  return (
    selectsServer(selection, subject) &&
    (kinds === undefined || kinds.includes(subject.kind)) &&
    (tiers === undefined || tiers.includes(subject.tier)) &&
    (names === undefined || subject.names.some((name) => matchesAny(name, names)))
  );
}

export function matchesAny(text: string, globs: readonly string[]): boolean {
  return globs.some((glob) => matchesGlob(text, glob));
}

/** Whether a selection means any entry of a server. */
export function selectsServer(
  { servers, tags }: Selection,
  server: Pick<Subject, 'upstream' | 'tags'>,
): boolean {
  if (servers === undefined && tags === undefined) return true;
  return (
    (servers !== undefined && matchesAny(server.upstream, servers)) ||
    (tags !== undefined && server.tags.some((tag) => tags.includes(tag)))
  );
}
