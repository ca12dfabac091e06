import type { Snapshot } from '../catalog/snapshot.ts';
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { ServerFacts } from '../model/server-facts.ts';

/** The part of a snapshot that one caller may see. */
export interface View {
  /** One per list that a client can be told about. */
  readonly digests: Snapshot['digests'];
  readonly tools: readonly ToolEntry[];
  readonly prompts: readonly PromptEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  readonly servers: readonly {
    readonly name: UpstreamName;
    readonly description?: string;
    readonly facts?: ServerFacts;
  }[];
}

/** Which lists really differ; a server that was only listed again changes nothing for anybody. */
export interface ChangedLists {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
}

export function changedLists(before: Snapshot, after: Snapshot): ChangedLists {
  return {
    tools: before.digests.tools !== after.digests.tools,
    prompts: before.digests.prompts !== after.digests.prompts,
    resources: before.digests.resources !== after.digests.resources,
  };
}
