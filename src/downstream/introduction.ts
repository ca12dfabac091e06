import type { JsonObject } from '../model/json.ts';
import type { Era, ServerFacts } from '../model/server-facts.ts';
import { LEGACY_VERSIONS, META, MODERN_VERSION, NEWEST_LEGACY } from '../wire/era.ts';
import { Payload } from '../lib/payload.ts';

/** What a client is told about the side that answers it. */
interface Introduction {
  readonly capabilities: JsonObject;
  readonly info: JsonObject;
  readonly instructions: string | undefined;
}

const ALL: JsonObject = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
};

export function introduceAll(version: string, instructions: string | undefined): Introduction {
  return {
    capabilities: ALL,
    info: { name: 'trunkline', title: 'Trunkline', version },
    instructions,
  };
}

/** A server that is served alone speaks for itself, as far as we pass on what it offers. */
export function introduceOne({ capabilities, info, instructions }: ServerFacts, era: Era): Introduction {
  // Tasks of the two eras are different protocols, and only modern clients know extensions.
  const { tasks: _, extensions, ...passed } = capabilities;
  return {
    capabilities: era === 'modern' && extensions !== undefined ? { ...passed, extensions } : passed,
    info,
    instructions,
  };
}

export function initializeResult(wanted: string, introduction: Introduction): Payload {
  const { capabilities, info, instructions } = introduction;
  return Payload.of({
    protocolVersion: LEGACY_VERSIONS.includes(wanted) ? wanted : NEWEST_LEGACY,
    capabilities,
    serverInfo: info,
    ...(instructions === undefined ? {} : { instructions }),
  });
}

export function discoverResult({ capabilities, info, instructions }: Introduction): Payload {
  return Payload.of({
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS.toReversed()],
    capabilities,
    ...(instructions === undefined ? {} : { instructions }),
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { [META.serverInfo]: info },
  });
}
