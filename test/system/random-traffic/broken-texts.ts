import type { JsonObject } from '../../support/raw-messages.ts';
import type { EnvelopeKind, InvalidKind } from './traffic.ts';

export const PREFIX = 'io.modelcontextprotocol/';

/** Returns a text that is not a valid message, the required error code, and whether the error can contain the id. */
export function invalidText(kind: InvalidKind, id: string): { text: string; code: number; isKnown: boolean } {
  const invalid = (text: string, isKnown: boolean) => ({ text, code: -32600, isKnown });
  switch (kind) {
    case 'garbage':
      return { text: 'hello {', code: -32700, isKnown: false };
    case 'truncated':
      return { text: `{"jsonrpc":"2.0","id":${id},"method":"ping"`, code: -32700, isKnown: false };
    case 'number':
      return invalid('42', false);
    case 'empty-object':
      return invalid('{}', false);
    case 'old-version':
      return invalid(`{"jsonrpc":"1.0","id":${id},"method":"ping"}`, true);
    case 'no-version':
      return invalid(`{"id":${id},"method":"ping"}`, true);
    case 'params-array':
      return invalid(`{"jsonrpc":"2.0","id":${id},"method":"ping","params":[1]}`, true);
    case 'id-null':
      return invalid('{"jsonrpc":"2.0","id":null,"method":"ping"}', false);
    case 'id-object':
      return invalid('{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', false);
    case 'id-true':
      return invalid('{"jsonrpc":"2.0","id":true,"method":"ping"}', false);
    case 'method-number':
      return invalid(`{"jsonrpc":"2.0","id":${id},"method":7}`, true);
  }
}

/** Returns invalid metadata of a modern request, with the required error code. */
export function envelopeOf(kind: EnvelopeKind): { meta: JsonObject; code: number } {
  const capabilities = { [`${PREFIX}clientCapabilities`]: {} };
  switch (kind) {
    case 'wrong-version':
      return { meta: { ...capabilities, [`${PREFIX}protocolVersion`]: '2099-01-01' }, code: -32022 };
    case 'no-capabilities':
      return { meta: { [`${PREFIX}protocolVersion`]: '2026-07-28' }, code: -32602 };
    case 'version-number':
      return { meta: { ...capabilities, [`${PREFIX}protocolVersion`]: 7 }, code: -32602 };
    case 'meta-only':
      return { meta: { [`${PREFIX}protocolVersion`]: null }, code: -32602 };
  }
}
