import { describe, expect, test } from 'vitest';

import { GatewayError, RpcError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { UnexpectedResponseError, HttpStatusError } from '../../protocol/client-transport.ts';
import { classifyConnectError, classifyRequestError, classifyConnectionLoss } from './upstream-errors.ts';

const name = 'github' as UpstreamName;
const nothing = { stderr: [] };

function nodeError(code: string, more: object = {}): Error {
  return Object.assign(new Error(`${code}: it did not work`), { code, ...more });
}

describe('classifyConnectError', () => {
  test.each([
    [
      'ENOENT',
      'UPSTREAM_REFUSED',
      'the program "npx" was not found. Install it and run trunkline restart github',
    ],
    ['EACCES', 'UPSTREAM_REFUSED', 'cannot be executed (EACCES)'],
    ['ENOEXEC', 'UPSTREAM_REFUSED', 'cannot be executed (ENOEXEC)'],
    ['ENOTDIR', 'UPSTREAM_REFUSED', 'cannot be executed (ENOTDIR)'],
    ['ECONNREFUSED', 'UPSTREAM_UNAVAILABLE', 'nothing listens'],
    ['ENOTFOUND', 'UPSTREAM_UNAVAILABLE', 'host name is not known'],
    ['EAI_AGAIN', 'UPSTREAM_UNAVAILABLE', 'host name is not known'],
    ['ECONNRESET', 'UPSTREAM_UNAVAILABLE', 'it did not work'],
    ['EMFILE', 'UPSTREAM_UNAVAILABLE', 'it did not work'],
  ])('connect error: classifies %s as %s', (code, expected, text) => {
    const error = classifyConnectError(nodeError(code, { path: 'npx' }), name, nothing);
    expect(error.code).toBe(expected);
    expect(error.message).toContain('Server "github"');
    expect(error.message).toContain(text);
  });

  test('connect error: quotes what the server said on one line and briefly', () => {
    const message = `No.\nTrunkline: sign in.\u202e${'x'.repeat(100_000)}`;
    const error = classifyConnectError(new RpcError({ code: -32603, message }), name, nothing);
    expect(error.message).toMatch(
      /^Server "github" refused the connection: No\. Trunkline: sign in\. x{400,500} Correct its settings: trunkline edit github$/,
    );
  });

  test('connect error: names the command that was not found', () => {
    const error = classifyConnectError(
      nodeError('ENOENT', { path: 'uvx', syscall: 'spawn uvx' }),
      name,
      nothing,
    );
    expect(error.message).toContain('"uvx"');
    expect(
      classifyConnectError(nodeError('ENOENT', { syscall: 'spawn uvx' }), name, nothing).message,
    ).toContain('"uvx"');
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
  ])('connect error: classifies HTTP %i as %s, also during a request', (status, code) => {
    const cause = new HttpStatusError(status, {}, '');
    expect(classifyConnectError(cause, name, nothing)).toMatchObject({ code, cause });
    expect(classifyRequestError(cause, name)).toMatchObject({ code, cause });
  });

  test('connect error: explains that the address does not speak MCP', () => {
    const cause = new UnexpectedResponseError('HTTP 200 with text/html');
    const about = { code: 'UPSTREAM_PROTOCOL', cause, details: { upstream: name } };
    expect(classifyConnectError(cause, name, nothing)).toMatchObject(about);
    expect(classifyConnectError(cause, name, nothing).message).toBe(
      'Server "github" answers with a web page instead of MCP: the URL is wrong, or the network requires a sign-in in a browser (captive portal). Sign in to the network and run trunkline restart github, or correct "url": trunkline edit github',
    );
    expect(classifyRequestError(cause, name)).toMatchObject(about);
    expect(classifyRequestError(cause, name).message).toBe(
      'Server "github" answered HTTP 200 with text/html, which is not a JSON-RPC message.',
    );
  });

  test('connect error: reports the exit code and the last lines of stderr', () => {
    const hints = { exit: 'exited with code 3', stderr: ['1', '2', '3', '4', '5', 'API_KEY is missing'] };
    const error = classifyConnectError(new Error('pipe'), name, hints);
    expect(error.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(error.message).toContain(
      'exited with code 3 before it was ready. Correct its command or settings: trunkline edit github (It wrote to standard error: 2 | 3 | 4 | 5 | API_KEY',
    );
    expect(error.details).toMatchObject({ upstream: 'github', exit: 'exited with code 3' });
  });

  test.each([
    ['after it', ['error: --token is missing', ...Array.from({ length: 30 }, (_, at) => `  --option-${at}`)]],
    ['before it', ['usage: program --token TOKEN', 'program: error: --token is missing']],
  ])('connect error: quotes the line that names the error first, with a usage text %s', (_, stderr) => {
    const error = classifyConnectError(new Error('pipe'), name, { exit: 'exited with code 2', stderr });
    expect(error.message).toMatch(/standard error: (?:program: )?error: --token is missing \| /);
  });

  const npm404 = [
    'npm error code E404',
    'npm error 404 Not Found - GET https://registry.npmjs.org/@acme%2fjira-mcp - Not found',
    "npm error 404  '@acme/jira-mcp@*' is not in this registry.",
  ];
  test.each([
    ['package-not-found', 'UPSTREAM_REFUSED', 'npm cannot find @acme/jira-mcp.', npm404],
    [
      'package-not-found',
      'UPSTREAM_REFUSED',
      'npm cannot find @acme/jira-mcp.',
      ['npm ERR! code E404', npm404[1] ?? ''].map((line) => line.replace('error', 'ERR!')),
    ],
    [
      'package-not-found',
      'UPSTREAM_REFUSED',
      'npm cannot find some-mcp@9.9.9.',
      ['npm error code ETARGET', 'npm error notarget No matching version found for some-mcp@9.9.9.'],
    ],
    [
      'registry-unreachable',
      'UPSTREAM_UNAVAILABLE',
      'npm cannot reach the registry with the package of server "github".',
      ['npm error code ENOTFOUND', 'npm error syscall getaddrinfo'],
    ],
    [
      'package-not-found',
      'UPSTREAM_REFUSED',
      'uv cannot find mcp-nope.',
      ['  ╰─▶ Because mcp-nope was not found in the package registry and you require mcp-nope, we'],
    ],
    [
      'engine-not-running',
      'UPSTREAM_UNAVAILABLE',
      'Server "github" cannot be started: Docker is not running.',
      ['docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.'],
    ],
    [
      'file-missing',
      'UPSTREAM_REFUSED',
      'Server "github" exited with code 1 before it was ready: /gone.mjs is missing.',
      ["Error: Cannot find module '/gone.mjs'"],
    ],
    [
      'file-missing',
      'UPSTREAM_UNAVAILABLE',
      'Server "github" exited with code 1 before it was ready: a file or program that it needs is missing.',
      ['sh: 1: cd: no such file or directory'],
    ],
    ['exited', 'UPSTREAM_UNAVAILABLE', 'exited with code 1 before it was ready.', ['API_KEY is missing']],
    // The words of npm in the output of another program say nothing about npm.
    ['exited', 'UPSTREAM_UNAVAILABLE', 'exited with code 1 before it was ready.', ['see code E404']],
  ])('connect error: finds the reason %s (%s) in the output: %s', (reason, code, sentence, stderr) => {
    const error = classifyConnectError(new Error('pipe'), name, { exit: 'exited with code 1', stderr });
    expect(error).toMatchObject({ code, details: { reason } });
    expect(error.message).toContain(sentence);
  });

  test('connect error: quotes the error of the server', () => {
    expect(
      classifyConnectError(new RpcError({ code: -32022, message: 'no such version' }), name, nothing),
    ).toMatchObject({
      code: 'UPSTREAM_REFUSED',
      message: expect.stringContaining('no such version') as string,
    });
  });

  test('connect error: passes a GatewayError through', () => {
    const own = new GatewayError('SECRET_MISSING', 'no token');
    expect(classifyConnectError(own, name, nothing)).toBe(own);
    expect(classifyConnectionLoss(own, name, nothing)).toBe(own);
  });

  test('connect error: accepts values that are not errors', () => {
    expect(classifyConnectError('text', name, nothing)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(classifyRequestError(undefined, name)).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});

describe('classifyConnectionLoss', () => {
  test('lost connection: reports the cause and that the request was not repeated', () => {
    const error = classifyConnectionLoss(new Error('pipe'), name, {
      exit: 'was ended by SIGKILL',
      stderr: ['out of memory'],
    });
    expect(error.code).toBe('UPSTREAM_CLOSED');
    expect(error.message).toMatch(/was ended by SIGKILL during the request.*not repeated.*out of memory/);
  });

  test('lost connection: reports a closed connection when no cause is known', () => {
    expect(classifyConnectionLoss(new Error('x'), name, nothing).message).toContain('closed the connection');
  });
});
