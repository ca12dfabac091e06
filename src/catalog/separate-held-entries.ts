import type { PromptEntry, ToolEntry } from '../core/entry.ts';
import type { HeldReason } from '../core/held.ts';
import type { ExposedName, UpstreamName } from '../core/ids.ts';
import type { ServerFacts } from '../core/server-facts.ts';
import type { Listing } from './listing.ts';
import type { HeldEntry } from './snapshot.ts';

/** Separates held entries from the visible ones. Held entries keep their names, so no other entry can get them. */
export function separateHeldEntries<E extends ToolEntry | PromptEntry>(
  entries: readonly E[],
  listings: readonly Listing[],
): { readonly visible: readonly E[]; readonly held: ReadonlyMap<ExposedName, HeldEntry<E>> } {
  const reasons = new Map<UpstreamName, HeldReasons>();
  for (const { upstream, judged } of listings) {
    if (judged === undefined || judged.tools.length + judged.prompts.length === 0) continue;
    reasons.set(upstream, { tool: new Map(judged.tools), prompt: new Map(judged.prompts) });
  }
  if (reasons.size === 0) return { visible: entries, held: new Map() };
  const visible: E[] = [];
  const held = new Map<ExposedName, HeldEntry<E>>();
  for (const entry of entries) {
    const reason = reasons.get(entry.upstream)?.[entry.kind].get(entry.definition.name);
    if (reason === undefined) visible.push(entry);
    else held.set(entry.name, { entry, reason });
  }
  return { visible, held };
}

type HeldReasons = Readonly<Record<'tool' | 'prompt', ReadonlyMap<string, HeldReason>>>;

/** Returns the facts that clients see. Held texts of the server are replaced by the approved ones, or omitted if none are approved. */
export function withApprovedTexts({ facts, judged }: Listing): ServerFacts {
  if (judged?.words === undefined) return facts;
  const { instructions: _, info, ...rest } = facts;
  const { name, version } = info;
  const { instructions, ...texts } = judged.words.approved;
  return {
    ...rest,
    info: { name, version, ...texts },
    instructions,
  };
}
