import { describe, expect, it } from 'vitest';

import { withEnvelope, modernHeaders } from '../../../test/support/modern-envelope.ts';
import { checkModernNotification, checkModernRequest } from './check-modern-headers.ts';

function problem(method: string, params: Record<string, unknown>, headers: Record<string, string> = {}) {
  return checkModernRequest(
    { method, params: withEnvelope(params, {}) },
    { ...modernHeaders(method, params), ...headers },
  );
}
const base64 = (text: string | Buffer): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('checkModernRequest', () => {
  it.each([
    ['tools/list', {}],
    ['tools/call', { name: 'a' }],
    ['prompts/get', { name: 'größe' }],
    ['resources/read', { uri: 'file:///a b' }],
    ['resources/read', { uri: '=?base64?YQ==?=' }],
    ['tools/call', { name: ' padded ' }],
    ['tools/call', { name: '' }],
  ])('modern headers: accept a valid %s request with %o', (method, params) => {
    expect(problem(method, params)).toBeUndefined();
  });

  it('modern headers: accept a request without a name', () => {
    expect(problem('tools/call', {})).toBeUndefined();
    expect(problem('tools/call', { name: 5 })).toBeUndefined();
  });

  it.each([
    ['another name', 'b'],
    ['a name in different case', 'A'],
    ['another encoded name', base64('b')],
    ['broken base64', '=?base64?YQ=?='],
    ['base64 with spaces', '=?base64?Y Q==?='],
    ['invalid UTF-8', base64(Buffer.from([0xff]))],
    ['an uppercase marker', '=?BASE64?YQ==?='],
    ['two values', 'a, a'],
  ])('modern headers: reject %s in Mcp-Name', (_, name) => {
    expect(problem('tools/call', { name: 'a' }, { 'mcp-name': name })).toMatchObject({
      code: -32020,
      data: { header: 'Mcp-Name' },
    });
  });

  it('modern headers: reject an unencoded name that looks encoded', () => {
    const name = '=?base64?YQ==?=';
    expect(problem('tools/call', { name }, { 'mcp-name': name })).toMatchObject({ code: -32020 });
  });

  it.each([
    ['MCP-Protocol-Version', 'mcp-protocol-version'],
    ['Mcp-Method', 'mcp-method'],
    ['Mcp-Name', 'mcp-name'],
  ])('modern headers: report the missing header %s', (header, key) => {
    const params = { name: 'a' };
    const { [key]: _, ...headers } = modernHeaders('tools/call', params);
    expect(
      checkModernRequest({ method: 'tools/call', params: withEnvelope(params, {}) }, headers),
    ).toMatchObject({
      code: -32020,
      message: `The header ${header} is missing.`,
      data: { header },
    });
  });

  it('modern headers: never quote a header value in the error', () => {
    const found = problem('tools/call', { name: 'a' }, { 'mcp-name': 'SPOOF' });
    expect(JSON.stringify(found)).not.toContain('SPOOF');
  });
});

describe('checkModernNotification', () => {
  it('modern headers: reject contradicting or unsupported versions of a notification', () => {
    const notification = { method: 'notifications/x', params: withEnvelope({}, {}) };
    expect(checkModernNotification(notification, {})).toBeUndefined();
    expect(checkModernNotification(notification, { 'mcp-protocol-version': '2025-11-25' })).toMatchObject({
      code: -32020,
    });
    const future = { method: 'notifications/x', params: withEnvelope({}, { version: '2030-01-01' }) };
    expect(checkModernNotification(future, {})).toMatchObject({ code: -32022 });
  });
});
