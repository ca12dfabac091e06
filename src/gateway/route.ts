import { findResource } from '../catalog/snapshot.ts';
import type { ResourceRoute, Snapshot } from '../catalog/snapshot.ts';
import { nearest } from '../lib/nearest.ts';
import type { PromptEntry, ToolEntry } from '../model/entry.ts';
import { GatewayError } from '../model/errors.ts';
import type { ExposedName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Operation } from '../policy/call.ts';

export function findTool(snapshot: Snapshot, name: string): ToolEntry | undefined {
  return snapshot.tools.get(name as ExposedName); // The cast only asks the map.
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

export function resourceOperation(snapshot: Snapshot, uri: string, params: JsonObject): Operation {
  const { upstream, entry, uri: own } = resourceRoute(snapshot, uri);
  return { kind: 'resource', upstream, entry, method: 'resources/read', params: { ...params, uri: own } };
}

export function completionOperation(snapshot: Snapshot, ref: JsonObject, params: JsonObject): Operation {
  const { upstream, entry, own } = referenceRoute(snapshot, ref);
  return {
    kind: 'completion',
    upstream,
    entry,
    method: 'completion/complete',
    params: { ...params, ref: own },
  };
}

export function resourceRoute(snapshot: Snapshot, uri: string): ResourceRoute {
  const route = findResource(snapshot, uri);
  if (route !== undefined) return route;
  const details = { kind: 'resource', uri };
  throw new GatewayError('ENTRY_NOT_FOUND', `Unknown resource: ${uri.slice(0, 500)}`, { details });
}

export function unknownEntry(kind: 'tool' | 'prompt', name: string, known: Iterable<string>): GatewayError {
  const near = nearest(name, known, 3);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((each) => `"${each}"`).join(', ')}?`;
  const details = { kind, near };
  return new GatewayError('ENTRY_NOT_FOUND', `Unknown ${kind}: ${name.slice(0, 200)}.${hint}`, { details });
}

function promptNamed(snapshot: Snapshot, name: string): PromptEntry {
  const entry = snapshot.prompts.get(name as ExposedName); // The cast only asks the map.
  if (entry === undefined) throw unknownEntry('prompt', name, snapshot.prompts.keys());
  return entry;
}

function referenceRoute(
  snapshot: Snapshot,
  ref: JsonObject,
): Pick<ResourceRoute, 'upstream'> & {
  readonly entry: Operation['entry'] & object;
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
    return { upstream, entry, own: { ...ref, uri: own } };
  }
  throw new GatewayError(
    'ARGUMENTS_INVALID',
    'ref must be {"type":"ref/prompt","name":…} or {"type":"ref/resource","uri":…}.',
  );
}
