import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Era, ServerFacts } from '../../core/server-facts.ts';
import { Payload } from '../../core/lib/payload.ts';
import { readClientName } from '../../protocol/envelope.ts';
import { LEGACY_VERSIONS, META_KEYS, MODERN_VERSION, NEWEST_LEGACY_VERSION } from '../../protocol/era.ts';
import type { ClientSession } from '../client-session.ts';
import { invalidParamsError } from '../encode-response.ts';

/** The description of the gateway or of a single server that a client receives. */
export interface ServerDescription {
  readonly capabilities: JsonObject;
  readonly info: JsonObject;
  readonly instructions: string | undefined;
  readonly meta?: JsonObject | undefined;
  /** The newest version that a single server supports. */
  readonly protocol?: string | undefined;
}

const GATEWAY_CAPABILITIES: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

/** Extensions that consist only of resources and `_meta`, which the gateway passes on anyway. */
const PASSED_EXTENSIONS = ['io.modelcontextprotocol/ui'];
/** Passed on only between a modern client and a modern server, because the gateway does not translate tasks between the eras. */
const TASK_EXTENSION = 'io.modelcontextprotocol/tasks';
/** The task capability of the legacy era. It lacks `list`, because servers do not say which client a task belongs to. */
const LEGACY_TASKS: JsonObject = { cancel: {}, requests: { tools: { call: {} } } };

/** Handles `initialize` of a legacy client. */
export function handleInitialize(session: ClientSession, params: JsonObject): Promise<Payload> | Payload {
  const { protocolVersion: requested, capabilities, clientInfo } = params;
  if (typeof requested !== 'string') throw invalidParamsError('protocolVersion must be a string.');
  session.register(clientInfo, capabilities);
  const version = negotiateVersion(requested);
  session.options.clients?.open(session, session.info, version);
  return session.describe({ era: 'legacy', version }, (description) =>
    initializeResult(requested, description),
  );
}

/** Handles `server/discover` of a modern client. */
export function handleDiscover(session: ClientSession, params: JsonObject): Promise<Payload> | Payload {
  return session.describe({ era: 'modern', name: readClientName(params) }, discoverResult);
}

export function describeGateway(
  version: string,
  instructions: string | undefined,
  servers: readonly { readonly facts?: ServerFacts | undefined }[] = [],
  era: Era = 'legacy',
): ServerDescription {
  const extensions = passedExtensions(servers, era);
  const hasTasks = servers.some(({ facts }) => facts?.era === 'legacy' && 'tasks' in facts.capabilities);
  return {
    capabilities: {
      ...GATEWAY_CAPABILITIES,
      tasks: era === 'legacy' && hasTasks ? LEGACY_TASKS : undefined,
      extensions,
    },
    info: { name: 'trunkline', title: 'Trunkline', version },
    instructions,
  };
}

/** Returns the extensions that at least one server has. If several servers have one, the settings of the first server apply. */
function passedExtensions(
  servers: readonly { readonly facts?: ServerFacts | undefined }[],
  era: Era,
): JsonObject | undefined {
  const found: Record<string, unknown> = {};
  for (const { facts } of servers) {
    const extensions = facts?.capabilities['extensions'];
    if (!isJsonObject(extensions)) continue;
    const isModern = era === 'modern' && facts?.era === 'modern';
    const passed = isModern ? [...PASSED_EXTENSIONS, TASK_EXTENSION] : PASSED_EXTENSIONS;
    for (const name of passed) if (Object.hasOwn(extensions, name)) found[name] ??= extensions[name];
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Returns the server's own description. For a client of the other era, it lacks the capabilities that this client cannot use. */
export function describeSingleServer(
  facts: ServerFacts | undefined,
  era: Era,
  version: string,
): ServerDescription {
  if (facts === undefined) return describeGateway(version, undefined);
  const { capabilities, info, instructions, meta, protocol } = facts;
  if (facts.era === era) return { info, instructions, meta, capabilities, protocol };
  // Tasks of the two eras are different protocols, and only modern clients know extensions.
  const { tasks: _, extensions, ...passed } = capabilities;
  const known = era === 'modern' && extensions !== undefined ? { ...passed, extensions } : passed;
  return { info, instructions, meta, capabilities: known };
}

/** Returns the requested version if it is known and older than `newest`, else `newest`. Versions are dates, so they compare as text. */
export function negotiateVersion(requested: string, newest = NEWEST_LEGACY_VERSION): string {
  return LEGACY_VERSIONS.includes(requested) && requested < newest ? requested : newest;
}

function initializeResult(requested: string, description: ServerDescription): Payload {
  const { capabilities, info, instructions, meta, protocol } = description;
  return Payload.of({
    protocolVersion: negotiateVersion(requested, protocol),
    capabilities,
    serverInfo: info,
    instructions,
    _meta: meta,
  });
}

function discoverResult({ capabilities, info, instructions, meta }: ServerDescription): Payload {
  return Payload.of({
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS.toReversed()],
    capabilities,
    instructions,
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { ...meta, [META_KEYS.serverInfo]: info },
  });
}

/** Returns the `_meta` of a single server's list. In the modern era, it also names the server, as in every result. */
export function buildListMeta(
  method: string,
  facts: ServerFacts | undefined,
  era: Era,
): JsonObject | undefined {
  const own = facts?.listMeta?.[method];
  const info = era === 'modern' ? facts?.info : undefined;
  return own === undefined && info === undefined
    ? undefined
    : { ...own, ...(info && { [META_KEYS.serverInfo]: info }) };
}
