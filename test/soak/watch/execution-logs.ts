import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { FixtureEvent } from '../../support/fixture-log.ts';
import { type RequestTracker, count } from '../request-tracker.ts';
import { tokensExpire } from './fault-watch.ts';

interface Source {
  readonly name: string;
  readonly file: string;
}

/** Long enough for a write whose file was opened before the rename. */
const settleMs = 300;

/** Reads the new log entries of the servers into the tracker and deletes the files. */
export async function readExecutions(sources: readonly Source[], tracker: RequestTracker): Promise<void> {
  const taken = sources.filter(({ file }) => existsSync(file));
  // Servers open the file for every line, so they continue with a new one.
  for (const { file } of taken) renameSync(file, `${file}.read`);
  await sleep(settleMs);
  for (const { name, file } of taken) {
    const lines = readFileSync(`${file}.read`, 'utf8').split('\n').slice(0, -1);
    for (const line of lines) note(name, line, tracker);
    rmSync(`${file}.read`);
  }
}

function note(name: string, line: string, tracker: RequestTracker): void {
  // Most lines are about other events, and parsing them would take longer than everything else.
  if (line.startsWith('{"event":"executed"')) {
    tracker.executes(String((JSON.parse(line) as FixtureEvent)['tag']), name);
  } else if (line.startsWith('{"event":"call"') && line.includes('"tool":"echo"')) {
    const { arguments: args } = JSON.parse(line) as FixtureEvent & { arguments?: { text?: string } };
    tracker.executes(String(args?.text), name);
  } else if (line.startsWith('{"event":"refresh"')) {
    count(tracker.faults, tokensExpire);
  } else if (line.startsWith('{"event":"violation"')) {
    tracker.violate(`${name} recorded a protocol violation: ${line.slice(0, 300)}`);
  }
}
