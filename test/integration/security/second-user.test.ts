import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

/** Tests without the right to change owners cannot create files of another user. */
const isRoot = process.getuid?.() === 0;
const OTHER_USER = 4321;

test.skipIf(process.platform === 'win32')(
  'state folder: a record that another user planted in a folder that everyone can write is not followed',
  async () => {
    const home = commandHome();
    const state = join(home.home, 'state');
    mkdirSync(join(state, 'run'), { recursive: true });
    chmodSync(state, 0o777);
    // The other user listens on a socket of their own and leads the commands of this user there.
    const received: Buffer[] = [];
    const socket = join(temporaryFolder('other-user'), 'posing.sock');
    const server = createServer((client) => client.on('data', (bytes: Buffer) => received.push(bytes)));
    await new Promise<void>((resolve) => void server.listen(socket, resolve));
    const record = { socket, pid: process.pid, kind: 'http', version: '0.1.0', config: home.configFile };
    const identity = { revision: 'x', since: 1 };
    writeFileSync(join(state, 'run', 'gateway.json'), JSON.stringify({ ...record, ...identity }));
    try {
      const { code, stderr } = await home.run(['tools']);
      expect(Buffer.concat(received).toString()).toBe('');
      expect(code).toBe(3);
      expect(stderr).toContain(`Every user of this machine can change ${state}`);
      expect(stderr).toContain('chmod o-w');
    } finally {
      rmSync(join(state, 'run'), { recursive: true });
      await new Promise((resolve) => server.close(resolve));
    }
  },
);

test.runIf(isRoot).each(['.', 'config.jsonc', 'state', 'state/run', 'state/secret.key'])(
  'TRUNKLINE_HOME: nothing starts if %s belongs to another user',
  async (path) => {
    const home = commandHome();
    const marker = join(temporaryFolder('started'), 'marker');
    mkdirSync(join(home.home, 'state', 'run'), { recursive: true });
    writeFileSync(join(home.home, 'state', 'secret.key'), '');
    const command = { command: 'touch', args: [marker] };
    writeFileSync(home.configFile, JSON.stringify({ mcpServers: { planted: command } }));
    chownSync(join(home.home, path), OTHER_USER, OTHER_USER);
    const { code, stderr } = await home.run(['tools']);
    expect(stderr).toContain(`belongs to another user (id ${OTHER_USER})`);
    expect([code, existsSync(marker)]).toEqual([3, false]);
  },
);
