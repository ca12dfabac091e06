import { note, violation } from './note.mjs';
import { RpcError } from './rpc-error.mjs';

const prefix = 'io.modelcontextprotocol/';
export const metaKeys = {
  version: `${prefix}protocolVersion`,
  clientCapabilities: `${prefix}clientCapabilities`,
  clientInfo: `${prefix}clientInfo`,
  serverInfo: `${prefix}serverInfo`,
  subscriptionId: `${prefix}subscriptionId`,
  logLevel: `${prefix}logLevel`,
};
const modernVersion = '2026-07-28';
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** Returns the era of a request. */
export function eraOf(message, served) {
  if (served !== 'both') return served;
  if (message.method === 'server/discover') return 'modern';
  return message.params?._meta?.[metaKeys.version] === undefined ? 'legacy' : 'modern';
}

/** Rejects a modern request without the required metadata. */
export function checkEnvelope(message, checkHeaders) {
  const meta = message.params?._meta ?? {};
  const version = meta[metaKeys.version];
  const capabilities = meta[metaKeys.clientCapabilities];
  if (typeof version !== 'string' || capabilities === null || typeof capabilities !== 'object') {
    // This error tells a legacy client why a modern server rejects it.
    if (message.method !== 'initialize') violation('envelope-missing', { method: message.method });
    throw new RpcError(
      -32602,
      `Every request must carry ${metaKeys.version} and ${metaKeys.clientCapabilities}. Served: ${modernVersion}.`,
      { status: 400 },
    );
  }
  // Before the version check, because contradictory headers leave the version undefined.
  checkHeaders?.();
  if (version !== modernVersion) {
    throw new RpcError(-32022, 'Unsupported protocol version', {
      data: { supported: [modernVersion], requested: version },
      status: 400,
    });
  }
}

/** Rejects a legacy request before the handshake. */
export function checkHandshake(message, link) {
  if (message.method === 'initialize') {
    if (link.version !== undefined) violation('second-initialize');
    return;
  }
  if (message.method === 'ping') return;
  if (link.version === undefined) {
    // Clients of both eras send this probe before the handshake.
    if (message.method !== 'server/discover')
      violation('request-before-initialize', { method: message.method });
    throw new RpcError(
      message.method === 'server/discover' ? -32601 : -32600,
      message.method === 'server/discover' ? 'Method not found' : 'Initialize first.',
      { status: 400 },
    );
  }
  if (!link.initialized && !link.sessionless) {
    violation('request-before-initialized', { method: message.method });
  }
}

export function initializeResult(server, params, link) {
  const asked = params?.protocolVersion;
  const offered = server.versions;
  link.version = offered.includes(asked) ? asked : offered[0];
  link.clientCapabilities = params?.capabilities ?? {};
  note('initialize', {
    link: link.id,
    asked,
    version: link.version,
    clientInfo: params?.clientInfo,
    capabilities: link.clientCapabilities,
  });
  return {
    protocolVersion: link.version,
    capabilities: server.capabilities(),
    serverInfo: server.info,
    ...(server.definition.instructions !== undefined && { instructions: server.definition.instructions }),
  };
}

export function discoverResult(server, params) {
  note('discover', { meta: params?._meta });
  return {
    supportedVersions: server.era === 'both' ? [modernVersion, ...server.versions] : [modernVersion],
    capabilities: server.capabilities(),
    ...(server.definition.instructions !== undefined && { instructions: server.definition.instructions }),
  };
}

/** Adds the required members of a modern result; returns a legacy result unchanged. */
export function dressResult(result, { era, cacheable, server }) {
  if (era === 'legacy') return result;
  return {
    resultType: 'complete',
    ...(cacheable && { ttlMs: server.ttlMs, cacheScope: server.cacheScope }),
    ...result,
    _meta: { [metaKeys.serverInfo]: server.info, ...result._meta },
  };
}
