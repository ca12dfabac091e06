import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/** The facts that a replica needs to continue a session; the session id contains them. */
export interface SessionFacts {
  /** The random internal id, which is the same at every replica. */
  readonly id: string;
  readonly protocol: string;
  /** The time of `initialize`, in milliseconds since the epoch. */
  readonly issuedAt: number;
  readonly info: JsonObject | undefined;
  readonly capabilities: JsonObject;
}

const MAX_INFO_CHARS = 600;
const MAX_CAPABILITIES_CHARS = 1500;
const MAX_CAPABILITY_CHARS = 300;
const MAX_TEXT_CHARS = 200;
const KNOWN_INFO = ['name', 'version', 'title'];
const KNOWN_CAPABILITIES = ['elicitation', 'sampling', 'roots', 'tasks', 'extensions'];

/** Returns the client's description of itself in `initialize`. A long description is shortened, because the session id contains it. */
export function readClientFacts(params: JsonObject | undefined): Pick<SessionFacts, 'info' | 'capabilities'> {
  const { clientInfo, capabilities } = params ?? {};
  return {
    info: isJsonObject(clientInfo) ? shortenInfo(clientInfo) : undefined,
    capabilities: isJsonObject(capabilities) ? shortenCapabilities(capabilities) : {},
  };
}

function shortenInfo(info: JsonObject): JsonObject {
  if (JSON.stringify(info).length <= MAX_INFO_CHARS) return info;
  const known = KNOWN_INFO.flatMap((key) => {
    const text = info[key];
    return typeof text === 'string' ? [[key, text.slice(0, MAX_TEXT_CHARS)]] : [];
  });
  return Object.fromEntries(known) as JsonObject;
}

function shortenCapabilities(capabilities: JsonObject): JsonObject {
  if (JSON.stringify(capabilities).length <= MAX_CAPABILITIES_CHARS) return capabilities;
  const known = KNOWN_CAPABILITIES.flatMap((key) => {
    const capability = capabilities[key];
    if (!isJsonObject(capability)) return [];
    return [[key, JSON.stringify(capability).length <= MAX_CAPABILITY_CHARS ? capability : {}]];
  });
  return Object.fromEntries(known) as JsonObject;
}
