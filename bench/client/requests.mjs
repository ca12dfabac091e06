export const PROTOCOL_VERSION = '2025-06-18';

/** Everything of a request after its id, so that a call costs the client only that one number. */
export function requestBody(method, params) {
  return `"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`;
}

export const initializeBody = requestBody('initialize', {
  protocolVersion: PROTOCOL_VERSION,
  capabilities: {},
  clientInfo: { name: 'trunkline-bench', version: '1.0.0' },
});

export const initializedMessage = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
