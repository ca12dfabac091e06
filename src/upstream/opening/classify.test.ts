import { describe, expect, test } from 'vitest';

import { GatewayError, RpcError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { ForeignAnswerError, HttpStatusError } from '../../wire/stream.ts';
import { classifyConnect, classifyExchange, classifyLoss } from './classify.ts';

const name = 'github' as UpstreamName;
const nothing = { stderr: [] };

function nodeError(code: string, more: object = {}): Error {
  return Object.assign(new Error(`${code}: it did not work`), { code, ...more });
}

describe('classifyConnect', () => {
  test.each([
    ['ENOENT', 'UPSTREAM_REFUSED', 'was not found'],
    ['EACCES', 'UPSTREAM_REFUSED', 'cannot be executed (EACCES)'],
    ['ENOEXEC', 'UPSTREAM_REFUSED', 'cannot be executed (ENOEXEC)'],
    ['ENOTDIR', 'UPSTREAM_REFUSED', 'cannot be executed (ENOTDIR)'],
    ['ECONNREFUSED', 'UPSTREAM_UNAVAILABLE', 'nothing listens'],
    ['ENOTFOUND', 'UPSTREAM_UNAVAILABLE', 'host name is not known'],
    ['EAI_AGAIN', 'UPSTREAM_UNAVAILABLE', 'host name is not known'],
    ['ECONNRESET', 'UPSTREAM_UNAVAILABLE', 'it did not work'],
    ['EMFILE', 'UPSTREAM_UNAVAILABLE', 'it did not work'],
  ])('calls %s %s', (code, expected, text) => {
    const error = classifyConnect(nodeError(code, { path: 'npx' }), name, nothing);
    expect(error.code).toBe(expected);
    expect(error.message).toContain('Server "github"');
    expect(error.message).toContain(text);
  });

  test('names the command that was not found', () => {
    const error = classifyConnect(nodeError('ENOENT', { path: 'uvx', syscall: 'spawn uvx' }), name, nothing);
    expect(error.message).toContain('"uvx"');
    expect(classifyConnect(nodeError('ENOENT', { syscall: 'spawn uvx' }), name, nothing).message).toContain(
      '"uvx"',
    );
  });

  test.each([
    [401, 'UPSTREAM_NEEDS_AUTH'],
    [403, 'UPSTREAM_NEEDS_AUTH'],
    [400, 'UPSTREAM_REFUSED'],
    [404, 'UPSTREAM_REFUSED'],
    [405, 'UPSTREAM_REFUSED'],
    [408, 'UPSTREAM_UNAVAILABLE'],
    [429, 'UPSTREAM_UNAVAILABLE'],
    [500, 'UPSTREAM_UNAVAILABLE'],
    [503, 'UPSTREAM_UNAVAILABLE'],
  ])('calls HTTP %i %s, in connecting and in an exchange', (status, code) => {
    const cause = new HttpStatusError(status, {}, '');
    expect(classifyConnect(cause, name, nothing)).toMatchObject({ code, cause });
    expect(classifyExchange(cause, name)).toMatchObject({ code, cause });
  });

  test('names a server whose address answers well, but with something else', () => {
    const cause = new ForeignAnswerError('HTTP 200 with text/html');
    const about = { code: 'UPSTREAM_PROTOCOL', cause, details: { upstream: name } };
    expect(classifyConnect(cause, name, nothing)).toMatchObject(about);
    expect(classifyConnect(cause, name, nothing).message).toBe(
      'Server "github" does not speak MCP at its address: it answered HTTP 200 with text/html, not with a message.',
    );
    expect(classifyExchange(cause, name)).toMatchObject(about);
    expect(classifyExchange(cause, name).message).toBe(
      'Server "github" answered HTTP 200 with text/html, not with a message.',
    );
  });

  test('says how the process ended and what it said last', () => {
    const hints = { exit: 'exited with code 3', stderr: ['1', '2', '3', '4', '5', 'API_KEY is missing'] };
    const error = classifyConnect(new Error('pipe'), name, hints);
    expect(error.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(error.message).toContain(
      'exited with code 3 before it was ready. Its last words on standard error: 2 | 3 | 4 | 5 | API_KEY',
    );
    expect(error.details).toMatchObject({ upstream: 'github', exit: 'exited with code 3' });
  });

  test('says what the server refused with', () => {
    expect(
      classifyConnect(new RpcError({ code: -32022, message: 'no such version' }), name, nothing),
    ).toMatchObject({
      code: 'UPSTREAM_REFUSED',
      message: expect.stringContaining('no such version') as string,
    });
  });

  test('leaves an error of ours as it is', () => {
    const own = new GatewayError('SECRET_MISSING', 'no token');
    expect(classifyConnect(own, name, nothing)).toBe(own);
    expect(classifyLoss(own, name, nothing)).toBe(own);
  });

  test('copes with what is not an error', () => {
    expect(classifyConnect('text', name, nothing)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(classifyExchange(undefined, name)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});

describe('classifyLoss', () => {
  test('says that the request was not repeated and why the server is gone', () => {
    const error = classifyLoss(new Error('pipe'), name, {
      exit: 'was ended by SIGKILL',
      stderr: ['out of memory'],
    });
    expect(error.code).toBe('UPSTREAM_CLOSED');
    expect(error.message).toMatch(/was ended by SIGKILL during the request.*not repeated.*out of memory/);
  });

  test('says that the connection was closed where nothing else is known', () => {
    expect(classifyLoss(new Error('x'), name, nothing).message).toContain('closed the connection');
  });
});
