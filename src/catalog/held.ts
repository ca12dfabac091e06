import type { PromptEntry, ToolEntry } from '../model/entry.ts';
import type { HeldReason } from '../model/held.ts';
import type { ExposedName, UpstreamName } from '../model/ids.ts';
import type { ServerFacts } from '../model/server-facts.ts';
import type { Listing } from './listing.ts';
import type { HeldEntry } from './snapshot.ts';

/** Parts what may be shown from what waits for a person; the latter keeps its names, so that nobody else gets them. */
export function byHold<E extends ToolEntry | PromptEntry>(
  entries: readonly E[],
  listings: readonly Listing[],
): { readonly shown: readonly E[]; readonly held: ReadonlyMap<ExposedName, HeldEntry<E>> } {
  const reasons = new Map<UpstreamName, Reasons>();
  for (const { upstream, judged } of listings) {
    if (judged === undefined || judged.tools.length + judged.prompts.length === 0) continue;
    reasons.set(upstream, { tool: new Map(judged.tools), prompt: new Map(judged.prompts) });
  }
  if (reasons.size === 0) return { shown: entries, held: new Map() };
  const shown: E[] = [];
  const held = new Map<ExposedName, HeldEntry<E>>();
  for (const entry of entries) {
    const reason = reasons.get(entry.upstream)?.[entry.kind].get(entry.definition.name);
    if (reason === undefined) shown.push(entry);
    else held.set(entry.name, { entry, reason });
  }
  return { shown, held };
}

type Reasons = Readonly<Record<'tool' | 'prompt', ReadonlyMap<string, HeldReason>>>;

/** What clients are told of a server: where its words are held, those that were approved, or none. */
export function approvedFacts({ facts, judged }: Listing): ServerFacts {
  if (judged?.words === undefined) return facts;
  const { instructions: _, info, ...rest } = facts;
  const { title: __, ...named } = info;
  const { instructions, title } = judged.words.approved;
  return {
    ...rest,
    info: { ...named, ...(title !== undefined && { title }) },
    ...(instructions !== undefined && { instructions }),
  };
}
