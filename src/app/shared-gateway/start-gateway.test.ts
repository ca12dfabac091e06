import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';

import { expect, test } from 'vitest';

import { runningProcesses } from '../../../test/support/processes.ts';
import { NODE_LAUNCHER, READY_DESCRIPTOR, SHELL_LAUNCHER } from './start-gateway.ts';

const LAUNCHERS = { shell: SHELL_LAUNCHER, node: NODE_LAUNCHER };
/** Reports on the readiness descriptor and runs until it is killed, as a gateway does. */
const PROGRAM = [
  process.execPath,
  '-e',
  `require('node:fs').writeSync(${READY_DESCRIPTOR}, process.argv[1]);
require('node:fs').closeSync(${READY_DESCRIPTOR});
setInterval(() => {}, 1000);`,
  `$HOME "quoted" 'text'`,
];

test.runIf(process.platform !== 'win32').each(['shell', 'node'] as const)(
  'gateway launcher (%s): starts a process that is not a descendant of its caller and prints its id',
  async (kind) => {
    const [launcher, ...args] = LAUNCHERS[kind];
    const child = spawn(launcher, [...args, ...PROGRAM], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
    const [printed, reported] = await Promise.all([
      text(child.stdout as Readable),
      text(child.stdio[READY_DESCRIPTOR] as Readable),
      once(child, 'exit'),
    ]);
    const pid = Number(printed);
    try {
      expect(reported).toBe(`$HOME "quoted" 'text'`);
      const parent = runningProcesses().find((one) => one.pid === pid)?.parent;
      expect(parent).toBeDefined();
      expect([process.pid, child.pid]).not.toContain(parent);
    } finally {
      process.kill(pid);
    }
  },
);
