import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era, ServerFacts } from '../model/server-facts.ts';
import { LEGACY_VERSIONS, META, MODERN_VERSION, NEWEST_LEGACY } from '../wire/era.ts';
import { Payload } from '../lib/payload.ts';

/** What a client is told about the side that answers it. */
interface Introduction {
  readonly capabilities: JsonObject;
  readonly info: JsonObject;
  readonly instructions: string | undefined;
  readonly meta?: JsonObject | undefined;
  /** The newest version that the server itself agreed to. */
  readonly protocol?: string;
}

const ALL: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

/** Extensions that are nothing but resources and `_meta`, which pass through us. */
const PASSED_EXTENSIONS = ['io.modelcontextprotocol/ui'];
/** Its tasks are followed at their servers, which only clients of the same era understand. */
const TASK_EXTENSION = 'io.modelcontextprotocol/tasks';
/** Of the older protocol, less the list: whose tasks would be in it, servers do not say. */
const TASKS: JsonObject = { cancel: {}, requests: { tools: { call: {} } } };

export function introduceAll(
  version: string,
  instructions: string | undefined,
  servers: readonly { readonly facts?: ServerFacts }[] = [],
  era: Era = 'legacy',
): Introduction {
  const extensions = passedExtensions(servers, era);
  const hasTasks = servers.some(({ facts }) => facts?.era === 'legacy' && 'tasks' in facts.capabilities);
  return {
    capabilities: {
      ...ALL,
      ...(era === 'legacy' && hasTasks && { tasks: TASKS }),
      ...(extensions !== undefined && { extensions }),
    },
    info: { name: 'trunkline', title: 'Trunkline', version },
    instructions,
  };
}

/** A server that is served alone speaks for itself, as far as we pass on what it offers. */
export function introduceOne(facts: ServerFacts | undefined, era: Era, version: string): Introduction {
  if (facts === undefined) return introduceAll(version, undefined);
  const { capabilities, info, instructions, meta, protocol } = facts;
  const said = { info, instructions, meta };
  if (facts.era === era) return { ...said, capabilities, protocol };
  // Tasks of the two eras are different protocols, and only modern clients know extensions.
  const { tasks: _, extensions, ...passed } = capabilities;
  const known = era === 'modern' && extensions !== undefined ? { ...passed, extensions } : passed;
  return { ...said, capabilities: known };
}

/** What some server says it has of them; the first that says so speaks for all. */
function passedExtensions(
  servers: readonly { readonly facts?: ServerFacts }[],
  era: Era,
): JsonObject | undefined {
  const found: Record<string, unknown> = {};
  for (const { facts } of servers) {
    const said = facts?.capabilities['extensions'];
    if (!isJsonObject(said)) continue;
    const isModern = era === 'modern' && facts?.era === 'modern';
    const passed = isModern ? [...PASSED_EXTENSIONS, TASK_EXTENSION] : PASSED_EXTENSIONS;
    for (const name of passed) if (Object.hasOwn(said, name)) found[name] ??= said[name];
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Versions are dates: the older of what the client wants and what the server can. */
export function agreedVersion(wanted: string, protocol = NEWEST_LEGACY): string {
  return LEGACY_VERSIONS.includes(wanted) && wanted < protocol ? wanted : protocol;
}

export function initializeResult(wanted: string, introduction: Introduction): Payload {
  const { capabilities, info, instructions, meta, protocol } = introduction;
  return Payload.of({
    protocolVersion: agreedVersion(wanted, protocol),
    capabilities,
    serverInfo: info,
    ...(instructions === undefined ? {} : { instructions }),
    ...(meta === undefined ? {} : { _meta: meta }),
  });
}

export function discoverResult({ capabilities, info, instructions, meta }: Introduction): Payload {
  return Payload.of({
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS.toReversed()],
    capabilities,
    ...(instructions === undefined ? {} : { instructions }),
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { ...meta, [META.serverInfo]: info },
  });
}

/** What a server that is served alone says with a list; a modern one says with every result who it is. */
export function metaOfList(method: string, facts: ServerFacts | undefined, era: Era): JsonObject | undefined {
  const own = facts?.listMeta?.[method];
  const info = era === 'modern' ? facts?.info : undefined;
  return own === undefined && info === undefined
    ? undefined
    : { ...own, ...(info && { [META.serverInfo]: info }) };
}
