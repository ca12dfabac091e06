import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { eventually, waitForValue } from '../../../test/support/eventually.ts';
import { upstreamConfig } from '../../../test/support/upstream-config.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { RunningPrograms } from '../../config/reference-command.ts';
import { isProcessAlive } from '../../core/lib/is-process-alive.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { HeadersHelper } from './headers-helper.ts';

const refusal = { status: 401, challenge: undefined, body: '', isRepeated: false, isLast: false };

/** A helper that runs the lines of a shell script; each run is counted. */
function helper(lines: string) {
  const folder = temporaryFolder('helper');
  const file = join(folder, 'helper');
  writeFileSync(file, `#!/bin/sh\necho x >> "${folder}/runs"\nn=$(wc -l < "${folder}/runs")\n${lines}\n`);
  chmodSync(file, 0o755);
  const runs = (): number => readFileSync(join(folder, 'runs'), 'utf8').length / 2;
  const create = (command: string | readonly string[], running?: RunningPrograms) =>
    new HeadersHelper({
      config: upstreamConfig({ name: 'files' as UpstreamName }),
      helper: command,
      url: () => Promise.resolve('https://files.example/mcp'),
      env: process.env,
      home: folder,
      searchPath: () => Promise.resolve(undefined),
      running,
    });
  return { file, runs, create };
}

test('headers helper: runs once, and again after the server rejects its headers', async () => {
  const { file, runs, create } = helper(
    'echo "{\\"Authorization\\": \\"Bearer $n of $CLAUDE_CODE_MCP_SERVER_NAME\\"}"',
  );
  const credentials = create([file]);
  await Promise.all([credentials.headers(), credentials.headers()]);
  expect(credentials.headers()).toEqual({ Authorization: 'Bearer 1 of files' });
  expect(await credentials.handleRefusal({ ...refusal, since: performance.now() })).toBe('try-again');
  expect(credentials.headers()).toEqual({ Authorization: 'Bearer 2 of files' });
  // The refused request started before the command ran again.
  expect(await credentials.handleRefusal({ ...refusal, since: 0 })).toBe('try-again');
  const error = await credentials.handleRefusal({ ...refusal, since: performance.now(), isRepeated: true });
  expect(error).toMatchObject({
    code: 'SECRET_MISSING',
    message: expect.stringContaining('trunkline edit files'),
  });
  expect(runs()).toBe(2);
});

test('headers helper: runs a text in the shell, as Claude Code does', async () => {
  const { create } = helper('');
  expect(await create(`printf '{"X": "%s"}' "$CLAUDE_CODE_MCP_SERVER_URL"`).headers()).toEqual({
    X: 'https://files.example/mcp',
  });
});

test.each([
  ['echo hush'],
  ['echo "[\\"hush\\"]"'],
  ['echo "{\\"X\\": 1, \\"Y\\": \\"hush\\"}"'],
  ['printf \'{"X": "hush\\\\r\\\\nEvil: 1"}\''],
  ['echo hush; echo hush >&2; exit 7'],
])('headers helper: rejects the output of %s without repeating it', async (lines) => {
  const { file, create } = helper(lines);
  const error: unknown = await Promise.resolve(create([file]).headers()).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'SECRET_MISSING' });
  expect(String(error)).not.toContain('hush');
});

test('headers helper: quotes a hostile name of the server in the command that people copy', async () => {
  const { file } = helper('echo nothing');
  const name = 'x; touch pwned' as UpstreamName;
  const credentials = new HeadersHelper({
    config: upstreamConfig({ name }),
    helper: [file],
    url: () => Promise.resolve('https://files.example/mcp'),
    env: process.env,
    home: '/',
    searchPath: () => Promise.resolve(undefined),
  });
  await expect(Promise.resolve(credentials.headers())).rejects.toThrow("trunkline edit 'x; touch pwned'");
});

test('headers helper: ends with all its processes when the gateway stops, and does not run again', async () => {
  const { file, create } = helper('sh -c "echo \\$\\$ > $0.pid; sleep 600"; echo done');
  const running = new RunningPrograms();
  const credentials = create([file], running);
  const headers = Promise.resolve(credentials.headers()).catch(String);
  const pid = await waitForValue(() => Number(readFileSync(`${file}.pid`, 'utf8')) || undefined, {
    what: 'the process of the helper',
  });
  await running[Symbol.asyncDispose]();
  expect(await headers).toContain('ended with the signal SIGKILL');
  await eventually(() => expect(isProcessAlive(pid)).toBe(false));
  await expect(Promise.resolve(credentials.headers())).rejects.toThrow('the gateway is stopping');
});
