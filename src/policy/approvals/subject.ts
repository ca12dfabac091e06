import { createHash } from 'node:crypto';

import { canonicalJson } from '../../lib/canonical-json.ts';
import type { ServerWords } from '../../model/held.ts';
import type { Fingerprint, UpstreamName } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ServerFacts } from '../../model/server-facts.ts';

/** What can be approved: a server before it is started, its tools and prompts, and what it says of itself. */
export const APPROVAL_KINDS = ['server', 'words', 'tool', 'prompt'] as const;
export type ApprovalKind = (typeof APPROVAL_KINDS)[number];

/** One thing that is approved or not, with everything of it that a model can read. */
export interface Subject {
  readonly kind: ApprovalKind;
  /** The upstream's own; empty for the server itself and for its words. */
  readonly name: string;
  readonly definition: JsonObject;
  readonly fingerprint: Fingerprint;
}

interface Named {
  readonly definition: JsonObject & { readonly name: string };
}

/** As much of a listing as is approved. */
export interface Offered {
  readonly upstream: UpstreamName;
  readonly config: Fingerprint;
  readonly facts: ServerFacts;
  readonly tools: readonly Named[];
  readonly prompts: readonly Named[];
}

export function subjectsOf({ facts, tools, prompts }: Offered): readonly Subject[] {
  const words = wordsOf(facts);
  return [
    ...(Object.keys(words).length === 0 ? [] : [subject('words', '', { ...words })]),
    ...tools.map(({ definition }) => subject('tool', definition.name, visibleOf(definition))),
    ...prompts.map(({ definition }) => subject('prompt', definition.name, visibleOf(definition))),
  ];
}

export function subject(kind: ApprovalKind, name: string, definition: JsonObject): Subject {
  return { kind, name, definition, fingerprint: approvalFingerprint(definition) };
}

/** What is no part of this is data for programs; whatever a server adds to the rest counts. */
export function visibleOf(definition: JsonObject): JsonObject {
  const { _meta: _, icons: __, ...visible } = definition;
  return visible;
}

/** Its title stands beside its name wherever servers are introduced. */
function wordsOf({ instructions, info }: ServerFacts): ServerWords {
  const { title } = info;
  return {
    ...(typeof instructions === 'string' && instructions !== '' && { instructions }),
    ...(typeof title === 'string' && title !== '' && { title }),
  };
}

/** 132 bits of SHA-256, whatever the order of keys. */
export function approvalFingerprint(definition: JsonObject): Fingerprint {
  return createHash('sha256')
    .update(canonicalJson(definition))
    .digest('base64url')
    .slice(0, 22) as Fingerprint; // A hash of a definition, which is what a fingerprint is.
}
