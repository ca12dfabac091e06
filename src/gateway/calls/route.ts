import { findResource } from '../../catalog/snapshot.ts';
import type { HeldEntry, ResourceRoute, Snapshot } from '../../catalog/snapshot.ts';
import { nearest } from '../../lib/nearest.ts';
import type { PromptEntry, ToolEntry } from '../../model/entry.ts';
import { GatewayError } from '../../model/errors.ts';
import type { HeldReason } from '../../model/held.ts';
import type { ExposedName } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Operation } from '../../policy/call.ts';

export function findTool(snapshot: Snapshot, name: string): ToolEntry | undefined {
  return snapshot.tools.get(name as ExposedName); // The cast only asks the map.
}

/** Throws when there is such a tool, and it waits for a person. */
export function refuseHeldTool(snapshot: Snapshot, name: string): void {
  const held = snapshot.held.tools.get(name as ExposedName); // The cast only asks the map.
  if (held !== undefined) throw quarantined(held);
}

const HELD: Readonly<Record<HeldReason, string>> = {
  new: 'it is new',
  changed: 'it is not what was approved any more',
  suspicious: 'something about it looks wrong',
  refused: 'a person refused it',
};

/** Says why, and nothing of what is held. */
export function quarantined({ entry, reason }: HeldEntry): GatewayError {
  const { kind, name, upstream } = entry;
  const rest = reason === 'refused' ? '' : ' A person has to look at it first, with: trunkline approvals';
  return new GatewayError('QUARANTINED', `The ${kind} ${name} is held: ${HELD[reason]}.${rest}`, {
    details: { kind, upstream, reason },
  });
}

/** What a client's request is in the words of the upstream that must answer it. */
export function toolOperation(entry: ToolEntry, params: JsonObject): Operation {
  const { upstream, definition } = entry;
  return {
    kind: 'tool',
    upstream,
    entry,
    method: 'tools/call',
    params: { ...params, name: definition.name },
  };
}

export function promptOperation(snapshot: Snapshot, name: string, params: JsonObject): Operation {
  const entry = promptNamed(snapshot, name);
  const { upstream, definition } = entry;
  return {
    kind: 'prompt',
    upstream,
    entry,
    method: 'prompts/get',
    params: { ...params, name: definition.name },
  };
}

export function resourceOperation(route: ResourceRoute, params: JsonObject): Operation {
  const { upstream, entry, uri } = route;
  return {
    kind: 'resource',
    upstream,
    ...(entry && { entry }),
    method: 'resources/read',
    params: { ...params, uri },
  };
}

export function completionOperation(snapshot: Snapshot, ref: JsonObject, params: JsonObject): Operation {
  const { upstream, entry, own } = referenceRoute(snapshot, ref);
  return {
    kind: 'completion',
    upstream,
    ...(entry && { entry }),
    method: 'completion/complete',
    params: { ...params, ref: own },
  };
}

/** `given` is the server that gave out the URI in a result; what is listed comes first. */
export function resourceRoute(
  snapshot: Snapshot | undefined,
  uri: string,
  given?: ResourceRoute,
): ResourceRoute {
  const route = (snapshot && findResource(snapshot, uri)) ?? given;
  if (route !== undefined) return route;
  const details = { kind: 'resource', uri };
  const message = `Unknown resource: ${uri.slice(0, 500)}. No server lists it; a link of an earlier result may have to be asked for again.`;
  throw new GatewayError('ENTRY_NOT_FOUND', message, { details });
}

export function unknownEntry(kind: 'tool' | 'prompt', name: string, known: Iterable<string>): GatewayError {
  const near = nearest(name, known, 3);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((each) => `"${each}"`).join(', ')}?`;
  const details = { kind, near };
  return new GatewayError('ENTRY_NOT_FOUND', `Unknown ${kind}: ${name.slice(0, 200)}.${hint}`, { details });
}

function promptNamed(snapshot: Snapshot, name: string): PromptEntry {
  const entry = snapshot.prompts.get(name as ExposedName); // The cast only asks the map.
  const held = snapshot.held.prompts.get(name as ExposedName); // The cast only asks the map.
  if (held !== undefined) throw quarantined(held);
  if (entry === undefined) throw unknownEntry('prompt', name, snapshot.prompts.keys());
  return entry;
}

function referenceRoute(
  snapshot: Snapshot,
  ref: JsonObject,
): Pick<ResourceRoute, 'upstream'> & {
  readonly entry?: Operation['entry'] & object;
  readonly own: JsonObject;
} {
  const { type, name, uri } = ref;
  if (type === 'ref/prompt' && typeof name === 'string') {
    const entry = promptNamed(snapshot, name);
    return { upstream: entry.upstream, entry, own: { ...ref, name: entry.definition.name } };
  }
  if (type === 'ref/resource' && typeof uri === 'string') {
    const template = snapshot.templates.find((entry) => entry.uriTemplate === uri);
    if (template !== undefined) {
      const { upstream, definition } = template;
      return { upstream, entry: template, own: { ...ref, uri: definition.uriTemplate } };
    }
    const { upstream, entry, uri: own } = resourceRoute(snapshot, uri);
    return { upstream, ...(entry && { entry }), own: { ...ref, uri: own } };
  }
  throw new GatewayError(
    'ARGUMENTS_INVALID',
    'ref must be {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}.',
  );
}
