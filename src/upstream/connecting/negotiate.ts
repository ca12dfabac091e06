import type { Cancellation } from '../../core/lib/cancellation.ts';
import type { Payload } from '../../core/lib/payload.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import { isLargeJson } from '../../core/lib/is-large-json.ts';
import type { Fingerprint } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Era, ServerFacts } from '../../core/server-facts.ts';
import {
  LEGACY_VERSIONS,
  META_KEYS,
  MODERN_VERSION,
  NEWEST_LEGACY_VERSION,
  RPC_ERROR_CODES,
} from '../../protocol/era.ts';
import { withEnvelope } from '../../protocol/envelope.ts';
import type { RpcClient } from '../../protocol/rpc-client.ts';
import { HttpStatusError } from '../../protocol/client-transport.ts';

export interface ClientIdentity {
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
  /** The version that a legacy client requested, if the server serves only that client. */
  readonly protocol?: string | undefined;
  /** Resolves when the capabilities are known; absent if they always are. */
  readonly settled?: Promise<void> | undefined;
}

/** Remembers the protocol era of each server by its config fingerprint, so that the probe runs once per configuration. */
export interface EraCache {
  recall(config: Fingerprint): { readonly era: Era } | undefined;
  remember(config: Fingerprint, facts: { readonly era: Era; readonly protocol: string }): void;
}

/** If a server does not answer the probe within this time, `initialize` is sent as well. */
const PROBE_SILENCE_MS = 3000;
/** Maximum number of members in the information and in the capabilities of a server, which are compared and inspected often. */
const MAX_FACT_MEMBERS = 10_000;
/** Error codes that only a modern server sends. */
const MODERN_ERRORS: ReadonlySet<number> = new Set([
  RPC_ERROR_CODES.headerMismatch,
  RPC_ERROR_CODES.missingClientCapability,
  RPC_ERROR_CODES.unsupportedVersion,
]);

/** Negotiates an era and a version with a server. `era` is configured, remembered from an earlier connection, or unknown. */
export async function negotiate(
  client: RpcClient,
  identity: ClientIdentity,
  options: {
    readonly era: Era | undefined;
    readonly cancellation: Cancellation;
    readonly probeSilenceMs?: number;
  },
): Promise<ServerFacts> {
  const { era, cancellation } = options;
  const silenceMs = options.probeSilenceMs ?? PROBE_SILENCE_MS;
  await identity.settled;
  const server = await detectServer(client, identity, { era, cancellation, silenceMs });
  // This notification is sent only now, because both `server/discover` and `initialize` may have been answered, and only one response was accepted.
  if (server.era === 'legacy') client.notify('notifications/initialized');
  client.setProtocol(server.era, server.protocol);
  return server;
}

/** Probes with `server/discover` unless the era is known, and falls back to `initialize`. */
async function detectServer(
  client: RpcClient,
  identity: ClientIdentity,
  options: { readonly era: Era | undefined; readonly cancellation: Cancellation; readonly silenceMs: number },
): Promise<ServerFacts> {
  const { era, cancellation } = options;
  if (era === 'legacy') return initialize(client, identity, cancellation);
  if (era === undefined && identity.protocol !== undefined)
    return initializeFirst(client, identity, cancellation);
  const probe = discover(client, identity, cancellation);
  if (era === 'modern') return probe;
  const outcome = await orSilent(
    probe.catch((error: unknown) => error),
    options.silenceMs,
  );
  if (isFacts(outcome)) return outcome;
  if (outcome === 'silent') return firstOf(probe, initialize(client, identity, cancellation));
  if (!allowsLegacy(outcome)) throw outcome;
  return initialize(client, identity, cancellation);
}

/** Tries the legacy era first: the server belongs to one legacy client, which would get that era without the gateway, too. */
async function initializeFirst(
  client: RpcClient,
  identity: ClientIdentity,
  cancellation: Cancellation,
): Promise<ServerFacts> {
  try {
    return await initialize(client, identity, cancellation);
  } catch (error) {
    const isRefusal = error instanceof RpcError || (error instanceof HttpStatusError && allowsLegacy(error));
    if (!isRefusal) throw error;
    return discover(client, identity, cancellation).catch(() => {
      throw error; // The client speaks the legacy protocol, so the error of `initialize` is the relevant one.
    });
  }
}

/** Resolves with the first success: a slow modern server may still answer the probe, and a legacy server answers `initialize`. */
async function firstOf(probe: Promise<ServerFacts>, initialized: Promise<ServerFacts>): Promise<ServerFacts> {
  try {
    return await Promise.any([probe, initialized]);
  } catch {
    return initialized; // Both failed; the error of `initialize` is more helpful.
  }
}

async function discover(
  client: RpcClient,
  identity: ClientIdentity,
  cancellation: Cancellation,
): Promise<ServerFacts> {
  const probe = (): Promise<Payload> =>
    client.request('server/discover', withEnvelope({}, identity), { cancellation });
  const payload = await probe().catch((error: unknown) => {
    // A server that refuses our version although it lists it as supported is probed once more.
    if (listsOurVersion(error)) return probe();
    throw error;
  });
  const result = payload.value;
  if (!isJsonObject(result) || !Array.isArray(result['supportedVersions'])) {
    throw new RpcError({
      code: RPC_ERROR_CODES.methodNotFound,
      message: 'The response to server/discover has no list of supported versions.',
    });
  }
  if (!result['supportedVersions'].includes(MODERN_VERSION)) {
    if (result['supportedVersions'].some((version) => LEGACY_VERSIONS.includes(String(version)))) {
      throw new RpcError({
        code: RPC_ERROR_CODES.methodNotFound,
        message: 'The server supports legacy versions only.',
      });
    }
    throw noCommonVersion(result['supportedVersions']);
  }
  const meta = result['_meta'];
  return toFacts(
    'modern',
    MODERN_VERSION,
    isJsonObject(meta) ? meta[META_KEYS.serverInfo] : undefined,
    result,
  );
}

async function initialize(
  client: RpcClient,
  identity: ClientIdentity,
  cancellation: Cancellation,
): Promise<ServerFacts> {
  const payload = await client.request(
    'initialize',
    {
      protocolVersion: identity.protocol ?? NEWEST_LEGACY_VERSION,
      capabilities: identity.capabilities,
      clientInfo: identity.info,
    },
    { cancellation },
  );
  const result = payload.value;
  const version = isJsonObject(result) ? result['protocolVersion'] : undefined;
  if (!isJsonObject(result) || typeof version !== 'string') {
    throw new GatewayError(
      'UPSTREAM_REFUSED',
      'The server answered "initialize" without a protocol version.',
    );
  }
  if (!LEGACY_VERSIONS.includes(version)) throw noCommonVersion([version]);
  return toFacts('legacy', version, result['serverInfo'], result);
}

function toFacts(era: Era, protocol: string, info: unknown, result: JsonObject): ServerFacts {
  const { capabilities, instructions, _meta } = result;
  if ([info, capabilities, _meta].some((part) => isLargeJson(part, MAX_FACT_MEMBERS))) {
    const message = `The server describes itself or its capabilities with more than ${MAX_FACT_MEMBERS} members.`;
    throw new GatewayError('UPSTREAM_REFUSED', message);
  }
  const { [META_KEYS.serverInfo]: _info, ...meta } = isJsonObject(_meta) ? _meta : {};
  return {
    era,
    protocol,
    info: isJsonObject(info) ? info : { name: 'unknown', version: '0' },
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
    meta: Object.keys(meta).length === 0 ? undefined : meta,
  };
}

function listsOurVersion(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.body.code !== RPC_ERROR_CODES.unsupportedVersion) return false;
  const { data } = error.body;
  const supported = isJsonObject(data) ? data['supported'] : undefined;
  return Array.isArray(supported) && supported.includes(MODERN_VERSION);
}

function noCommonVersion(offered: readonly unknown[]): GatewayError {
  const ours = [...LEGACY_VERSIONS, MODERN_VERSION].join(', ');
  return new GatewayError(
    'UPSTREAM_REFUSED',
    `The server supports only protocol versions ${offered.map(String).join(', ').slice(0, 200)}; the gateway supports ${ours}.`,
  );
}

/** Returns whether a failed probe may come from a legacy server. Refused credentials and outages do not indicate the era. */
function allowsLegacy(error: unknown): boolean {
  if (error instanceof RpcError) return !MODERN_ERRORS.has(error.body.code);
  if (error instanceof HttpStatusError)
    return error.status < 500 && ![401, 403, 408, 429].includes(error.status);
  return false;
}

function isFacts(outcome: unknown): outcome is ServerFacts {
  return isJsonObject(outcome) && 'era' in outcome;
}

/** Resolves with `'silent'` if there is no outcome within `ms`. */
function orSilent(outcome: Promise<unknown>, ms: number): Promise<unknown> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, 'silent');
    void outcome.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
