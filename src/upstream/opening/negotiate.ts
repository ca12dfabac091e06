import type { Cancellation } from '../../lib/cancellation.ts';
import type { Payload } from '../../lib/payload.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Era, ServerFacts } from '../../model/server-facts.ts';
import { LEGACY_VERSIONS, META, MODERN_VERSION, NEWEST_LEGACY, RPC } from '../../wire/era.ts';
import { withEnvelope } from '../../wire/envelope.ts';
import type { Peer } from '../../wire/peer.ts';
import { HttpStatusError } from '../../wire/stream.ts';

export interface ClientIdentity {
  readonly info: JsonObject;
  readonly capabilities: JsonObject;
  /** The version that a client of the older protocol wants, where the server is for that client only. */
  readonly protocol?: string;
}

/** A server that says nothing to the probe gets `initialize` as well; silence is no verdict. */
const PROBE_SILENCE_MS = 3000;
const MODERN_ERRORS: ReadonlySet<number> = new Set([
  RPC.headerMismatch,
  RPC.missingClientCapability,
  RPC.unsupportedVersion,
]);

/** Agrees with a server on an era and a version. `era` is a pin of the config, a remembered verdict, or unknown. */
export async function negotiate(
  peer: Peer,
  identity: ClientIdentity,
  options: {
    readonly era: Era | undefined;
    readonly cancellation: Cancellation;
    readonly probeSilenceMs?: number;
  },
): Promise<ServerFacts> {
  const { era, cancellation } = options;
  const server = await ask(peer, identity, {
    era,
    cancellation,
    silenceMs: options.probeSilenceMs ?? PROBE_SILENCE_MS,
  });
  // Only for the answer that counts: where both were asked, both may come.
  if (server.era === 'legacy') peer.notify('notifications/initialized');
  peer.negotiated(server.era, server.protocol);
  return server;
}

async function ask(
  peer: Peer,
  identity: ClientIdentity,
  options: { readonly era: Era | undefined; readonly cancellation: Cancellation; readonly silenceMs: number },
): Promise<ServerFacts> {
  const { era, cancellation } = options;
  if (era === 'legacy') return initialize(peer, identity, cancellation);
  if (era === undefined && identity.protocol !== undefined) return olderFirst(peer, identity, cancellation);
  const probe = discover(peer, identity, cancellation);
  if (era === 'modern') return probe;
  const verdict = await orSilent(
    probe.catch((error: unknown) => error),
    options.silenceMs,
  );
  if (isFacts(verdict)) return verdict;
  if (verdict === 'silent') return eitherOf(probe, initialize(peer, identity, cancellation));
  if (!allowsLegacy(verdict)) throw verdict;
  return initialize(peer, identity, cancellation);
}

/** For a client of the older protocol a server that speaks both is an older one, as it would be without us. */
async function olderFirst(
  peer: Peer,
  identity: ClientIdentity,
  cancellation: Cancellation,
): Promise<ServerFacts> {
  try {
    return await initialize(peer, identity, cancellation);
  } catch (error) {
    const isRefusal = error instanceof RpcError || (error instanceof HttpStatusError && allowsLegacy(error));
    if (!isRefusal) throw error;
    return discover(peer, identity, cancellation).catch(() => {
      throw error; // The older protocol is what the client speaks.
    });
  }
}

/** A slow modern server may still answer the probe; a silent old one answers `initialize`. */
async function eitherOf(probe: Promise<ServerFacts>, opening: Promise<ServerFacts>): Promise<ServerFacts> {
  try {
    return await Promise.any([probe, opening]);
  } catch {
    return opening; // Both failed; what `initialize` was told is the better reason.
  }
}

async function discover(
  peer: Peer,
  identity: ClientIdentity,
  cancellation: Cancellation,
): Promise<ServerFacts> {
  const probe = (): Promise<Payload> =>
    peer.request('server/discover', withEnvelope({}, identity), { cancellation });
  const payload = await probe().catch((error: unknown) => {
    // A server that refuses a version and names the very same as supported is taken at its word, once.
    if (namesOurVersion(error)) return probe();
    throw error;
  });
  const result = payload.value;
  if (!isJsonObject(result) || !Array.isArray(result['supportedVersions'])) {
    throw new RpcError({
      code: RPC.methodNotFound,
      message: 'The answer to server/discover is not a discovery.',
    });
  }
  if (!result['supportedVersions'].includes(MODERN_VERSION)) {
    if (result['supportedVersions'].some((version) => LEGACY_VERSIONS.includes(String(version)))) {
      throw new RpcError({ code: RPC.methodNotFound, message: 'The server offers older versions only.' });
    }
    throw noSharedVersion(result['supportedVersions']);
  }
  const meta = result['_meta'];
  return facts('modern', MODERN_VERSION, isJsonObject(meta) ? meta[META.serverInfo] : undefined, result);
}

async function initialize(
  peer: Peer,
  identity: ClientIdentity,
  cancellation: Cancellation,
): Promise<ServerFacts> {
  const payload = await peer.request(
    'initialize',
    {
      protocolVersion: identity.protocol ?? NEWEST_LEGACY,
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
  if (!LEGACY_VERSIONS.includes(version)) throw noSharedVersion([version]);
  return facts('legacy', version, result['serverInfo'], result);
}

function facts(era: Era, protocol: string, info: unknown, result: JsonObject): ServerFacts {
  const { capabilities, instructions, _meta } = result;
  const { [META.serverInfo]: _info, ...meta } = isJsonObject(_meta) ? _meta : {};
  return {
    era,
    protocol,
    info: isJsonObject(info) ? info : { name: 'unknown', version: '0' },
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    ...(typeof instructions === 'string' ? { instructions } : {}),
    ...(Object.keys(meta).length === 0 ? {} : { meta }),
  };
}

function namesOurVersion(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.body.code !== RPC.unsupportedVersion) return false;
  const { data } = error.body;
  const supported = isJsonObject(data) ? data['supported'] : undefined;
  return Array.isArray(supported) && supported.includes(MODERN_VERSION);
}

function noSharedVersion(offered: readonly unknown[]): GatewayError {
  const ours = [...LEGACY_VERSIONS, MODERN_VERSION].join(', ');
  return new GatewayError(
    'UPSTREAM_REFUSED',
    `The server speaks only protocol ${offered.map(String).join(', ').slice(0, 200)}; we speak ${ours}.`,
  );
}

/** Only a modern server answers with a modern error; credentials and outages say nothing about the era. */
function allowsLegacy(verdict: unknown): boolean {
  if (verdict instanceof RpcError) return !MODERN_ERRORS.has(verdict.body.code);
  if (verdict instanceof HttpStatusError)
    return verdict.status < 500 && ![401, 403, 408, 429].includes(verdict.status);
  return false;
}

function isFacts(verdict: unknown): verdict is ServerFacts {
  return isJsonObject(verdict) && 'era' in verdict;
}

function orSilent(answer: Promise<unknown>, ms: number): Promise<unknown> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, 'silent');
    void answer.then((verdict) => {
      clearTimeout(timer);
      resolve(verdict);
    });
  });
}
