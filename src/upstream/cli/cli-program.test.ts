import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { waitForValue } from '../../../test/support/eventually.ts';
import { isRunning } from '../../../test/support/processes.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import type { Fingerprint } from '../../core/ids.ts';
import { silentLogger } from '../../observability/log.ts';
import { ChildRecord } from '../process/child-record.ts';
import { Watchdog } from '../process/watchdog.ts';
import { CliProgram } from './cli-program.ts';
import { DiscoveryCache } from './discovery-cache.ts';
import { runProgram } from './run-program.ts';
import type { ProgramSettings } from './run-program.ts';

let folder: string;
let watchdog: Watchdog;
let setting: ProgramSettings;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-cli-'));
  watchdog = new Watchdog({ platform: process.platform });
  const record = new ChildRecord(folder, process.pid);
  const env = { PATH: process.env['PATH'] ?? '' };
  setting = { command: '/bin/sh', env, cwd: folder, watchdog, childRecord: record };
});

afterEach(async () => {
  await watchdog[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(process.platform === 'win32')('program', () => {
  test('program: is stopped and reported when it writes without end', async () => {
    const output = await runProgram(setting, ['-c', 'yes'], {
      cancellation: new Cancellation(),
      maxStdout: 1000,
      maxStderr: 1000,
      floodBytes: 100_000,
    });
    expect(output).toMatchObject({ isFlood: true });
    expect(output.stdout.bytes).toHaveLength(1000);
    expect(output.stdout.total).toBeGreaterThan(100_000);
  });

  test('program: is stopped on close while its help command still runs', async () => {
    const program = new CliProgram({
      settings: setting,
      // Its help takes longer than this test may.
      args: ['-c', 'echo $$ > pid; exec sleep 60'],
      program: { name: 'sleeper', words: [] },
      cli: { depth: 2, only: [], help: '--help', tools: [], maxOutput: 1000 },
      key: { config: 'c' as Fingerprint, version: '1', files: [] },
      cache: new DiscoveryCache({ stateDir: folder, now: Date.now }),
      log: silentLogger,
      now: Date.now,
      helpMs: 60_000,
    });
    const listed = program.list().catch((error: unknown) => error);
    const pid = await waitForValue(() => pidIn(join(folder, 'pid')), { what: 'The process' });
    await program.close();
    expect(await listed).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(isRunning(pid)).toBe(false);
  });
});

function pidIn(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8').trim()) || undefined;
  } catch {
    return undefined; // It has not begun.
  }
}
