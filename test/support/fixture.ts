import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { waitForValue } from './eventually.ts';
import { type FixtureLog, fixtureLogIn } from './fixture-log.ts';
import { testRun } from './test-run.ts';

/** Names of the servers in `test/support/servers`, which describe their behaviour. */
export type Preset =
  | 'asks-the-user'
  | 'big-results'
  | 'changes-a-definition'
  | 'changes-its-list'
  | 'changes-its-words'
  | 'conformance'
  | 'dialect'
  | 'dies-after-handshake'
  | 'dies-at-start'
  | 'dies-in-a-call'
  | 'endless-pages'
  | 'exits-on-probe'
  | 'floods-stderr'
  | 'floods-stdout'
  | 'forges-questions'
  | 'forgets-sessions'
  | 'gives-links'
  | 'hangs-in-calls'
  | 'hidden-characters'
  | 'hostile-layout'
  | 'hostile-names'
  | 'hostile-questions'
  | 'hostile-text'
  | 'hostile-tools'
  | 'huge-result'
  | 'ignores-signals'
  | 'installs-first'
  | 'launcher'
  | 'long-names'
  | 'many-tools'
  | 'misbehaves-on-demand'
  | 'needs-sign-in'
  | 'never-answers'
  | 'odd-schemas'
  | 'pages'
  | 'plain'
  | 'progress'
  | 'resumes-streams'
  | 'same-names'
  | 'sdk-v1'
  | 'sdk-v2'
  | 'shows-meta'
  | 'silent-on-probe'
  | 'slow-start'
  | 'speaks-garbage'
  | 'steers-models'
  | 'structured'
  | 'talks-to-all'
  | 'writes-its-environment';

/** An entry of `mcpServers` for a server that the gateway starts. */
export interface StdioEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface HttpFixture extends AsyncDisposable {
  /** Returns its exit code or signal, if it has exited, and the end of its standard error. */
  describeExit(): string;
  readonly url: string;
  readonly pid: number;
  readonly log: FixtureLog;
  /** Stops it with SIGTERM and waits until it has exited. */
  stop(): Promise<void>;
}

/** Returns the command line of a fixture. The leak check finds it by `--run`, even if its parent has changed. */
export function fixtureCommand(preset: Preset, args: readonly string[] = []): readonly [string, ...string[]] {
  const file = fileURLToPath(new URL(`./servers/${preset}.mjs`, import.meta.url));
  return [process.execPath, file, `--run=${testRun().id}`, ...args];
}

/** Returns an entry of `mcpServers` for a fixture over stdio, with its own log. */
export function fixture(preset: Preset, ...args: string[]): StdioEntry {
  const [command, ...rest] = fixtureCommand(preset, args);
  return { command, args: rest, env: { FIXTURE_LOG: newLogFile(preset) } };
}

/** Returns the log of an entry that `fixture` created. */
export function fixtureLog(entry: StdioEntry): FixtureLog {
  return fixtureLogIn(entry.env['FIXTURE_LOG'] ?? '');
}

/** Starts a fixture over Streamable HTTP, or over HTTP+SSE if `args` contains `--sse 0`. */
export async function startHttpFixture(preset: Preset, args: readonly string[] = []): Promise<HttpFixture> {
  const listens = args.includes('--sse') ? [] : ['--http', '0'];
  const [command, ...rest] = fixtureCommand(preset, [...args, ...listens, '--end-with-stdin']);
  const log = fixtureLogIn(newLogFile(preset));
  const child = spawn(command, rest, {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, FIXTURE_LOG: log.file },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const url = await waitForValue(
    () => /http:\/\/127\.0\.0\.1:\d+\/\S+/.exec(stderr)?.[0] ?? (hasEnded() ? '' : undefined),
    {
      what: `The address of ${preset}`,
      withinMs: 30_000,
    },
  );
  if (url === '') throw new Error(`${preset} ended before it listened: ${stderr}`);
  const stop = (): Promise<void> => end(child);
  const lastWords = (): string => `${child.signalCode ?? child.exitCode} ${stderr.slice(-2000)}`;
  return { url, pid: child.pid ?? 0, log, describeExit: lastWords, stop, [Symbol.asyncDispose]: stop };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  // Some fixtures ignore SIGTERM on purpose, but they must not outlive the test.
  const forced = setTimeout(() => child.kill('SIGKILL'), 2000);
  await ended;
  clearTimeout(forced);
}

function newLogFile(preset: Preset): string {
  return join(testRun().folder, `${preset}-${randomUUID()}.jsonl`);
}
