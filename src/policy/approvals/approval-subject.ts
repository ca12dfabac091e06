import { createHash } from 'node:crypto';

import type { UpstreamConfig } from '../../config/config.ts';
import type { ServerTexts } from '../../core/held.ts';
import type { Fingerprint, UpstreamName } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { canonicalJsonSteps } from '../../core/lib/canonical-json.ts';
import { completeAtOnce } from '../../core/lib/complete-in-slices.ts';
import type { ServerFacts } from '../../core/server-facts.ts';
import { toApprovedMeta } from './approved-meta.ts';

/** The kinds of what is approved: a server before it is started, the texts in which it describes itself (`words`), its tools and its prompts. */
export const APPROVAL_KINDS = ['server', 'words', 'tool', 'prompt'] as const;
export type ApprovalKind = (typeof APPROVAL_KINDS)[number];

/** A server, text, tool or prompt that needs approval. Its definition contains everything that a model or a client can read. */
export interface ApprovalSubject {
  readonly kind: ApprovalKind;
  /** The upstream's own name; empty for `server` and `words`. */
  readonly name: string;
  readonly definition: JsonObject;
  readonly fingerprint: Fingerprint;
  /** The fingerprint under which earlier versions of Trunkline stored decisions about a tool or prompt; it does not cover `_meta`. */
  readonly formerFingerprint?: Fingerprint;
}

/** The part of a listing that needs approval. */
export interface ServerOffer {
  readonly upstream: UpstreamName;
  /** Fingerprint of the server's configuration. */
  readonly config: Fingerprint;
  readonly facts: ServerFacts;
  readonly tools: readonly OfferedEntry[];
  readonly prompts: readonly OfferedEntry[];
}

export type ServerFingerprints = Pick<UpstreamConfig, 'fingerprint' | 'startFingerprint'>;

interface OfferedEntry {
  readonly definition: JsonObject & { readonly name: string };
}

export function listApprovalSubjects(offer: ServerOffer): readonly ApprovalSubject[] {
  return completeAtOnce(createSubjects(offer));
}

/**
 * Creates the approval subjects of a listing. It yields often, because the server decides how many entries there are
 * and how large they are.
 */
export function* createSubjects({
  facts,
  tools,
  prompts,
}: ServerOffer): Generator<undefined, readonly ApprovalSubject[]> {
  const texts = serverTexts(facts);
  const subjects: ApprovalSubject[] = [];
  if (Object.keys(texts).length > 0) subjects.push(yield* subjectSteps('words', '', { ...texts }));
  for (const [kind, entries] of [
    ['tool', tools],
    ['prompt', prompts],
  ] as const) {
    for (const { definition } of entries) {
      subjects.push(yield* subjectSteps(kind, definition.name, toApprovedDefinition(definition)));
      yield;
    }
  }
  return subjects;
}

/**
 * Returns the texts of a server that need approval, because clients may show them: its instructions and all
 * members of `serverInfo` except the name, the version and the icons. The version needs no approval, because
 * it may change with every update. Empty members are left out.
 */
function serverTexts({ instructions, info }: ServerFacts): ServerTexts {
  const { name: _, version: __, icons: ___, ...texts } = info;
  // `instructions` is last, so a member of that name in `serverInfo` cannot replace it.
  const all = Object.entries({ ...texts, instructions });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined && value !== null && value !== ''));
}

function* subjectSteps(
  kind: ApprovalKind,
  name: string,
  definition: JsonObject,
): Generator<undefined, ApprovalSubject> {
  const text = yield* canonicalJsonSteps(definition);
  const fingerprint = hashOf(kind, text);
  if (!coversMeta(kind)) return { kind, name, definition, fingerprint };
  const { _meta: meta, ...former } = definition;
  const formerText = meta === undefined ? text : yield* canonicalJsonSteps(former);
  return { kind, name, definition, fingerprint, formerFingerprint: digestOf(formerText) };
}

export function createSubject(kind: ApprovalKind, name: string, definition: JsonObject): ApprovalSubject {
  return completeAtOnce(subjectSteps(kind, name, definition));
}

/**
 * Returns the subject of a server before it is started. Its definition holds only the fingerprint of the transport, because the admin API
 * shows the command or address from the configuration.
 */
export function createServerSubject({ fingerprint, startFingerprint }: ServerFingerprints): ApprovalSubject {
  return { kind: 'server', name: '', definition: { config: fingerprint }, fingerprint: startFingerprint };
}

/** Whether a decision with this fingerprint applies to the present definition of the subject. */
export function isDecisionAbout(
  { fingerprint, formerFingerprint }: ApprovalSubject,
  decided: Fingerprint | undefined,
): boolean {
  return decided !== undefined && (decided === fingerprint || decided === formerFingerprint);
}

/** Removes `icons`, which only people see, and the changing values of `_meta`. Unknown members stay, because a model may read them. */
export function toApprovedDefinition(definition: JsonObject): JsonObject {
  const { _meta: meta, icons: _, ...members } = definition;
  return meta === undefined ? members : { ...members, _meta: toApprovedMeta(meta) };
}

function hashOf(kind: ApprovalKind, text: string): Fingerprint {
  // The prefix distinguishes an approval of a definition without `_meta` from an approval by an earlier version, which ignored `_meta`.
  return digestOf(coversMeta(kind) ? `with _meta: ${text}` : text);
}

function coversMeta(kind: ApprovalKind): boolean {
  return kind === 'tool' || kind === 'prompt';
}

/** Returns the first 22 characters (132 bits) of a SHA-256 hash. */
function digestOf(text: string): Fingerprint {
  // The cast marks the hash as a fingerprint.
  return createHash('sha256').update(text).digest('base64url').slice(0, 22) as Fingerprint;
}
