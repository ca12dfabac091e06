import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { isRunning } from '../../../test/support/processes.ts';
import { ChildRecord, sweepOrphans } from './child-record.ts';

let folder: string;
const started: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-orphans-'));
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** A process id above the maximum of the kernel, so no process has it. */
const nobody = 4_194_305;

function sleeper(options: { readonly detached: boolean } = { detached: true }): number {
  const child = spawn('sleep', ['300'], { ...options, stdio: 'ignore' });
  started.push(child);
  return child.pid!;
}

function startTime(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!;
}

function recordOf(gateway: number, record: unknown): void {
  writeFileSync(
    join(folder, `children-${gateway}.json`),
    typeof record === 'string' ? record : JSON.stringify(record),
  );
}

describe.skipIf(process.platform !== 'linux')('child record', () => {
  test('child record: exists while there are children and is readable only by its owner', () => {
    const run = join(folder, 'run');
    const record = new ChildRecord(run, process.pid);
    const [a, b] = [sleeper(), sleeper()];
    record.add(a);
    record.add(b);
    const [file] = readdirSync(run);
    expect(file).toBe(`children-${process.pid}.json`);
    expect(statSync(join(run, file!)).mode & 0o777).toBe(0o600);
    record.remove(a);
    record.remove(a);
    expect(readdirSync(run)).toHaveLength(1);
    record.remove(b);
    expect(readdirSync(run)).toEqual([]);
  });

  test('child record: ignores write errors and processes that have exited', () => {
    writeFileSync(join(folder, 'file'), '');
    const record = new ChildRecord(join(folder, 'file', 'below'), process.pid);
    record.add(sleeper());
    record.add(nobody);
    expect(readdirSync(folder)).toEqual(['file']);
  });
});

describe.skipIf(process.platform !== 'linux')('sweepOrphans', () => {
  test('orphan sweep: kills the servers of a dead gateway and deletes its record', async () => {
    const [a, b] = [sleeper(), sleeper()];
    recordOf(nobody, { by: '1', groups: [a, b].map((pid) => [pid, startTime(pid)]) });
    expect(sweepOrphans(folder)).toBe(2);
    await eventually(() => !isRunning(a) && !isRunning(b));
    expect(readdirSync(folder)).toEqual([]);
  });

  test('orphan sweep: kills the servers of a dead gateway whose PID was reused', async () => {
    const [server, other] = [sleeper(), sleeper()];
    recordOf(other, { by: 'an earlier start', groups: [[server, startTime(server)]] });
    expect(sweepOrphans(folder)).toBe(1);
    await eventually(() => !isRunning(server));
    expect(isRunning(other)).toBe(true);
  });

  test('orphan sweep: leaves the servers of a running gateway alone', () => {
    const pid = sleeper();
    new ChildRecord(folder, process.pid).add(pid);
    expect(sweepOrphans(folder)).toBe(0);
    expect(isRunning(pid)).toBe(true);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test('orphan sweep: leaves a process alone that reuses the PID of a server', () => {
    const pid = sleeper();
    recordOf(nobody, {
      by: '1',
      groups: [
        [pid, 'another start'],
        [nobody, '1'],
      ],
    });
    expect(sweepOrphans(folder)).toBe(0);
    expect(isRunning(pid)).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('orphan sweep: continues when one process cannot be killed', async () => {
    const [notALeader, leader] = [sleeper({ detached: false }), sleeper()];
    recordOf(nobody, { by: '1', groups: [notALeader, leader].map((pid) => [pid, startTime(pid)]) });
    expect(sweepOrphans(folder)).toBe(1);
    await eventually(() => !isRunning(leader));
  });

  test.each([
    '',
    '{',
    'null',
    '5',
    '[]',
    '{}',
    '{"by":5,"groups":5}',
    '{"by":"1","groups":[5,null,["x"],[1,"1"],[0,"1"],[-1,"1"]]}',
  ])('orphan sweep: kills nothing because of a damaged record: %j', (text) => {
    recordOf(nobody, text);
    expect(sweepOrphans(folder)).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('orphan sweep: ignores other files and a missing folder', () => {
    writeFileSync(join(folder, 'gateway.json'), '{}');
    writeFileSync(join(folder, 'children-x.json'), '{}');
    expect(sweepOrphans(folder)).toBe(0);
    expect(readdirSync(folder)).toHaveLength(2);
    expect(sweepOrphans(join(folder, 'nowhere'))).toBe(0);
  });
});
