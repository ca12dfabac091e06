export const PROTOCOL_VERSION = '2025-06-18';
const MODERN_VERSION = '2026-07-28';

const clientInfo = { name: 'trunkline-bench', version: '1.0.0' };

/** The text of a request after its id; a call only has to format the number. */
export function requestBody(method, params) {
  return `"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`;
}

export const initializeBody = requestBody('initialize', {
  protocolVersion: PROTOCOL_VERSION,
  capabilities: {},
  clientInfo,
});

export const initializedMessage = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** The metadata of every request without a handshake. */
export function modernParams(params) {
  const prefix = 'io.modelcontextprotocol/';
  const _meta = {
    [`${prefix}protocolVersion`]: MODERN_VERSION,
    [`${prefix}clientCapabilities`]: {},
    [`${prefix}clientInfo`]: clientInfo,
  };
  return { ...params, _meta };
}

/** The headers that mirror the body of a modern request. */
export function modernHeaders(body) {
  const { method, params } = JSON.parse(`{${body}`);
  const name = method === 'tools/call' ? `Mcp-Name: ${params.name}\r\n` : '';
  return `MCP-Protocol-Version: ${MODERN_VERSION}\r\nMcp-Method: ${method}\r\n${name}`;
}
