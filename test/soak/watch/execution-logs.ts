import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { FixtureEvent } from '../../support/fixture-log.ts';
import { type Ledger, count } from '../ledger.ts';
import { tokensExpire } from './fault-watch.ts';

interface Source {
  readonly name: string;
  readonly file: string;
}

/** Long enough for a write that had opened the file before it was moved. */
const settleMs = 300;

/** Takes what the servers wrote since the last time into the ledger, and throws the files away. */
export async function readExecutions(sources: readonly Source[], ledger: Ledger): Promise<void> {
  const taken = sources.filter(({ file }) => existsSync(file));
  // Servers open the file for every line, so that they go on with a new one.
  for (const { file } of taken) renameSync(file, `${file}.read`);
  await sleep(settleMs);
  for (const { name, file } of taken) {
    const lines = readFileSync(`${file}.read`, 'utf8').split('\n').slice(0, -1);
    for (const line of lines) note(name, line, ledger);
    rmSync(`${file}.read`);
  }
}

function note(name: string, line: string, ledger: Ledger): void {
  // Most lines are about other things, and parsing them would take longer than all the rest.
  if (line.startsWith('{"event":"executed"')) {
    ledger.executes(String((JSON.parse(line) as FixtureEvent)['tag']), name);
  } else if (line.startsWith('{"event":"call"') && line.includes('"tool":"echo"')) {
    const { arguments: args } = JSON.parse(line) as FixtureEvent & { arguments?: { text?: string } };
    ledger.executes(String(args?.text), name);
  } else if (line.startsWith('{"event":"refresh"')) {
    count(ledger.faults, tokensExpire);
  } else if (line.startsWith('{"event":"violation"')) {
    ledger.violate(`${name} saw the protocol broken: ${line.slice(0, 300)}`);
  }
}
