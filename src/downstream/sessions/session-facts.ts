import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';

/** What every gateway must know of a session to go on with it; its id carries it. */
export interface SessionFacts {
  /** Random, and the same wherever it is served. */
  readonly id: string;
  readonly protocol: string;
  readonly issuedAt: number;
  readonly info: JsonObject | undefined;
  readonly capabilities: JsonObject;
}

const MAX_INFO = 600;
const MAX_CAPABILITIES = 1500;
const MAX_PART = 300;
const MAX_WORD = 200;
/** What a client must be recognised by, and what servers may ask of it. */
const KNOWN_INFO = ['name', 'version', 'title'];
const KNOWN_CAPABILITIES = ['elicitation', 'sampling', 'roots', 'tasks', 'extensions'];

/** As a client introduced itself; of one with an endless introduction what we and servers go by. */
export function introducedAs(params: JsonObject | undefined): Pick<SessionFacts, 'info' | 'capabilities'> {
  const { clientInfo, capabilities } = params ?? {};
  return {
    info: isJsonObject(clientInfo) ? shortInfo(clientInfo) : undefined,
    capabilities: isJsonObject(capabilities) ? shortCapabilities(capabilities) : {},
  };
}

function shortInfo(info: JsonObject): JsonObject {
  if (JSON.stringify(info).length <= MAX_INFO) return info;
  const words = KNOWN_INFO.flatMap((key) => {
    const word = info[key];
    return typeof word === 'string' ? [[key, word.slice(0, MAX_WORD)]] : [];
  });
  return Object.fromEntries(words) as JsonObject;
}

function shortCapabilities(capabilities: JsonObject): JsonObject {
  if (JSON.stringify(capabilities).length <= MAX_CAPABILITIES) return capabilities;
  const parts = KNOWN_CAPABILITIES.flatMap((key) => {
    const part = capabilities[key];
    if (!isJsonObject(part)) return [];
    return [[key, JSON.stringify(part).length <= MAX_PART ? part : {}]];
  });
  return Object.fromEntries(parts) as JsonObject;
}
