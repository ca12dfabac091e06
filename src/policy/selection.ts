import type { Selection } from '../config/policy-config.ts';
import type { Entry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import { matchesGlob } from '../core/lib/matches-glob.ts';
import type { Tier } from '../core/tier.ts';

/** The properties of an entry that rules and profiles can select by. */
export interface PolicySubject {
  readonly kind: 'tool' | 'prompt' | 'resource';
  readonly upstream: UpstreamName;
  readonly tags: readonly string[];
  /** The exposed name and the upstream's own name. */
  readonly names: readonly string[];
  readonly tier: Tier;
}

/** Facts about an entry that come from the configuration. */
export interface SubjectLookups {
  readonly tagsOf: (upstream: UpstreamName) => readonly string[];
  readonly tierOf: (entry: Extract<Entry, { kind: 'tool' }>) => Tier;
}

export function toPolicySubject(entry: Entry, { tagsOf, tierOf }: SubjectLookups): PolicySubject {
  const { upstream } = entry;
  const tags = tagsOf(upstream);
  switch (entry.kind) {
    case 'tool':
      return {
        kind: 'tool',
        upstream,
        tags,
        names: [entry.name, entry.definition.name],
        tier: tierOf(entry),
      };
    case 'prompt':
      return { kind: 'prompt', upstream, tags, names: [entry.name, entry.definition.name], tier: 'read' };
    case 'resource':
      return { kind: 'resource', upstream, tags, names: [entry.uri, entry.definition.uri], tier: 'read' };
    case 'template': {
      const names = [entry.uriTemplate, entry.definition.uriTemplate];
      return { kind: 'resource', upstream, tags, names, tier: 'read' };
    }
  }
}

/** Whether the selection includes the entry. A criterion that is absent matches everything. */
export function matchesSelection(selection: Selection, subject: PolicySubject): boolean {
  const { names, kinds, tiers } = selection;
  return (
    matchesServerSelection(selection, subject) &&
    (kinds === undefined || kinds.includes(subject.kind)) &&
    (tiers === undefined || tiers.includes(subject.tier)) &&
    (names === undefined || subject.names.some((name) => matchesAny(name, names)))
  );
}

/** Whether the selection can include entries of the server. A match of either `servers` or `tags` is sufficient. */
export function matchesServerSelection(
  { servers, tags }: Selection,
  server: Pick<PolicySubject, 'upstream' | 'tags'>,
): boolean {
  if (servers === undefined && tags === undefined) return true;
  return (
    (servers !== undefined && matchesAny(server.upstream, servers)) ||
    (tags !== undefined && server.tags.some((tag) => tags.includes(tag)))
  );
}

export function matchesAny(text: string, globs: readonly string[]): boolean {
  return globs.some((glob) => matchesGlob(text, glob));
}
