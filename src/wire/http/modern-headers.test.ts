import { describe, expect, it } from 'vitest';

import { enveloped, modernHeaders } from '../../../test/support/modern-envelope.ts';
import { modernNotificationProblem, modernRequestProblem } from './modern-headers.ts';

function problem(method: string, params: Record<string, unknown>, headers: Record<string, string> = {}) {
  return modernRequestProblem(
    { method, params: enveloped(params, {}) },
    { ...modernHeaders(method, params), ...headers },
  );
}
const base64 = (text: string | Buffer): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('modernRequestProblem', () => {
  it.each([
    ['tools/list', {}],
    ['tools/call', { name: 'a' }],
    ['prompts/get', { name: 'größe' }],
    ['resources/read', { uri: 'file:///a b' }],
    ['resources/read', { uri: '=?base64?YQ==?=' }],
    ['tools/call', { name: ' padded ' }],
    ['tools/call', { name: '' }],
  ])('finds none in a right request for %s with %o', (method, params) => {
    expect(problem(method, params)).toBeUndefined();
  });

  it('leaves a missing name to whoever answers', () => {
    expect(problem('tools/call', {})).toBeUndefined();
    expect(problem('tools/call', { name: 5 })).toBeUndefined();
  });

  it.each([
    ['another', 'b'],
    ['a different case', 'A'],
    ['another encoded', base64('b')],
    ['broken base64', '=?base64?YQ=?='],
    ['base64 with spaces', '=?base64?Y Q==?='],
    ['bytes that are no text', base64(Buffer.from([0xff]))],
    ['a marker in capitals', '=?BASE64?YQ==?='],
    ['two at once', 'a, a'],
  ])('finds %s in Mcp-Name', (_, name) => {
    expect(problem('tools/call', { name: 'a' }, { 'mcp-name': name })).toMatchObject({
      code: -32020,
      data: { header: 'Mcp-Name' },
    });
  });

  it('does not take a name that looks encoded for itself', () => {
    const name = '=?base64?YQ==?=';
    expect(problem('tools/call', { name }, { 'mcp-name': name })).toMatchObject({ code: -32020 });
  });

  it.each([
    ['MCP-Protocol-Version', 'mcp-protocol-version'],
    ['Mcp-Method', 'mcp-method'],
    ['Mcp-Name', 'mcp-name'],
  ])('names the missing header %s', (header, key) => {
    const params = { name: 'a' };
    const { [key]: _, ...headers } = modernHeaders('tools/call', params);
    expect(
      modernRequestProblem({ method: 'tools/call', params: enveloped(params, {}) }, headers),
    ).toMatchObject({
      code: -32020,
      message: `The header ${header} is missing.`,
      data: { header },
    });
  });

  it('never repeats a header in its text', () => {
    const found = problem('tools/call', { name: 'a' }, { 'mcp-name': 'SPOOF' });
    expect(JSON.stringify(found)).not.toContain('SPOOF');
  });
});

describe('modernNotificationProblem', () => {
  it('finds what contradicts and what is not supported', () => {
    const notification = { method: 'notifications/x', params: enveloped({}, {}) };
    expect(modernNotificationProblem(notification, {})).toBeUndefined();
    expect(modernNotificationProblem(notification, { 'mcp-protocol-version': '2025-11-25' })).toMatchObject({
      code: -32020,
    });
    const future = { method: 'notifications/x', params: enveloped({}, { version: '2030-01-01' }) };
    expect(modernNotificationProblem(future, {})).toMatchObject({ code: -32022 });
  });
});
