import { fingerprintOfText } from '../../catalog/fingerprint.ts';
import type { UpstreamUri } from '../../catalog/resource-uris.ts';
import { toExposedUri, findResource } from '../../catalog/snapshot.ts';
import type { HeldEntry, ResourceRoute, Snapshot } from '../../catalog/snapshot.ts';
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from '../../core/entry.ts';
import { GatewayError } from '../../core/errors.ts';
import type { HeldReason } from '../../core/held.ts';
import type { ExposedName, UpstreamName } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { findSimilar } from '../../core/lib/find-similar.ts';
import type { Operation } from '../../policy/guard.ts';

/** Returns the operation that calls a tool. Like all operations of this file, it contains the upstream's own names. */
export function createToolOperation(entry: ToolEntry, params: JsonObject): Operation {
  const { upstream, definition } = entry;
  return {
    kind: 'tool',
    upstream,
    entry,
    method: 'tools/call',
    params: { ...params, name: definition.name },
  };
}

export function createPromptOperation(snapshot: Snapshot, name: string, params: JsonObject): Operation {
  const entry = resolvePrompt(snapshot, name);
  const { upstream, definition } = entry;
  return {
    kind: 'prompt',
    upstream,
    entry,
    method: 'prompts/get',
    params: { ...params, name: definition.name },
  };
}

export function createResourceOperation(
  { upstream, entry, uri }: ResourceRoute,
  params: JsonObject,
): Operation {
  return { kind: 'resource', upstream, entry, method: 'resources/read', params: { ...params, uri } };
}

export function createCompletionOperation(
  snapshot: Snapshot,
  ref: JsonObject,
  params: JsonObject,
): Operation {
  const { upstream, entry, upstreamRef } = resolveReference(snapshot, ref);
  return {
    kind: 'completion',
    upstream,
    entry,
    method: 'completion/complete',
    params: { ...params, ref: upstreamRef },
  };
}

export function lookupTool(snapshot: Snapshot, name: string): ToolEntry | undefined {
  return snapshot.tools.get(name as ExposedName); // The cast is safe for a lookup.
}

/** Throws if a tool of this name exists and is held for approval. */
export function assertToolNotHeld(snapshot: Snapshot, name: string): void {
  const held = snapshot.held.tools.get(name as ExposedName); // The cast is safe for a lookup.
  if (held !== undefined) throw heldEntryError(held);
}

function resolvePrompt(snapshot: Snapshot, name: string): PromptEntry {
  const entry = snapshot.prompts.get(name as ExposedName); // The cast is safe for a lookup.
  const held = snapshot.held.prompts.get(name as ExposedName); // The cast is safe for a lookup.
  if (held !== undefined) throw heldEntryError(held);
  if (entry === undefined) throw unknownEntryError('prompt', name, snapshot.prompts.keys());
  return entry;
}

/** Returns the server of a listed resource, and the server's own URI for it. Throws if no server lists the resource. */
export function resolveResource(snapshot: Snapshot, uri: string): ResourceRoute {
  const route = findResource(snapshot, uri);
  if (route === undefined) throw unknownResourceError(uri);
  return route;
}

/**
 * Returns the entry to which the policy is applied when a caller follows a resource link. If the server that returned the link lists the
 * resource, it is the listed entry, even if the caller cannot see that entry. Otherwise it is a new entry that contains only the URI.
 */
export function findLinkedEntry(
  snapshot: Snapshot,
  { upstream, uri }: UpstreamUri,
): ResourceEntry | TemplateEntry {
  const listed = findResource(snapshot, toExposedUri(snapshot, upstream, uri));
  if (listed?.entry !== undefined && listed.upstream === upstream) return listed.entry;
  const definition = { uri };
  return {
    kind: 'resource',
    upstream,
    uri,
    definition,
    fingerprint: fingerprintOfText(JSON.stringify(definition)),
  };
}

export function unknownResourceError(uri: string): GatewayError {
  const message = `Unknown resource: ${uri.slice(0, 500)}. No server lists it. If it is a link from an earlier result, request that result again.`;
  return new GatewayError('ENTRY_NOT_FOUND', message, { details: { kind: 'resource', uri } });
}

function resolveReference(
  snapshot: Snapshot,
  ref: JsonObject,
): {
  readonly upstream: UpstreamName;
  readonly entry: Operation['entry'];
  readonly upstreamRef: JsonObject;
} {
  const { type, name, uri } = ref;
  if (type === 'ref/prompt' && typeof name === 'string') {
    const entry = resolvePrompt(snapshot, name);
    return { upstream: entry.upstream, entry, upstreamRef: { ...ref, name: entry.definition.name } };
  }
  if (type === 'ref/resource' && typeof uri === 'string') {
    const template = snapshot.templates.find((entry) => entry.uriTemplate === uri);
    if (template !== undefined) {
      const { upstream, definition } = template;
      return { upstream, entry: template, upstreamRef: { ...ref, uri: definition.uriTemplate } };
    }
    const { upstream, entry, uri: upstreamUri } = resolveResource(snapshot, uri);
    return { upstream, entry, upstreamRef: { ...ref, uri: upstreamUri } };
  }
  throw new GatewayError(
    'ARGUMENTS_INVALID',
    'ref must be {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}.',
  );
}

export function unknownEntryError(
  kind: 'tool' | 'prompt',
  name: string,
  knownNames: Iterable<string>,
): GatewayError {
  const near = findSimilar(name, knownNames, 3);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((similar) => `"${similar}"`).join(', ')}?`;
  return new GatewayError('ENTRY_NOT_FOUND', `Unknown ${kind}: ${name.slice(0, 200)}.${hint}`, {
    details: { kind, near },
  });
}

const HELD_TEXTS: Readonly<Record<HeldReason, string>> = {
  new: 'is held for approval, because it is new. Review it with: trunkline approvals',
  changed:
    'is held for approval, because it differs from what was approved. Review it with: trunkline approvals',
  suspicious: 'is held for approval, because it looks suspicious. Review it with: trunkline approvals',
  refused: 'is held, because a person refused it.',
};

/** Returns an error that explains why an entry is held. It does not quote the definition, which may be malicious. */
export function heldEntryError({ entry, reason }: HeldEntry): GatewayError {
  const { kind, name, upstream } = entry;
  return new GatewayError('QUARANTINED', `The ${kind} ${name} ${HELD_TEXTS[reason]}`, {
    details: { kind, upstream, reason },
  });
}
