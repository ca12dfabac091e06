import type { ExposedName, Fingerprint, UpstreamName } from './ids.ts';
import type { JsonObject } from './json.ts';

/** A definition as the upstream sent it. Only the fields that we read are named; all others pass through. */
export interface ToolDefinition extends JsonObject {
  readonly name: string;
}
export interface PromptDefinition extends JsonObject {
  readonly name: string;
}
export interface ResourceDefinition extends JsonObject {
  readonly uri: string;
}
export interface TemplateDefinition extends JsonObject {
  readonly uriTemplate: string;
}

interface EntryBase {
  readonly upstream: UpstreamName;
  readonly fingerprint: Fingerprint;
}
export interface ToolEntry extends EntryBase {
  readonly kind: 'tool';
  readonly name: ExposedName;
  readonly definition: ToolDefinition;
  /** Fingerprint of the description that the configuration sets for this tool; absent if clients see the server's own description. */
  readonly descriptionFingerprint?: Fingerprint;
}
export interface PromptEntry extends EntryBase {
  readonly kind: 'prompt';
  readonly name: ExposedName;
  readonly definition: PromptDefinition;
}
export interface ResourceEntry extends EntryBase {
  readonly kind: 'resource';
  /** The URI that clients see: the upstream's own URI, unless several upstreams use the same one. */
  readonly uri: string;
  readonly definition: ResourceDefinition;
}
export interface TemplateEntry extends EntryBase {
  readonly kind: 'template';
  readonly uriTemplate: string;
  readonly definition: TemplateDefinition;
}
export type Entry = ToolEntry | PromptEntry | ResourceEntry | TemplateEntry;
