import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { hashIdentity } from '../../../src/app/shared-gateway/gateway-identity.ts';
import { requestOverSocket } from '../../support/admin-socket.ts';
import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { readFilesBelow } from '../../support/planted-secrets.ts';
import { isRunning } from '../../support/processes.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { SharedHome } from '../../support/shared-home.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const manifest = new URL('../../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };

/** Returns a home with a server that needs the variable TOKEN, and one that needs nothing. */
function homeWithToken() {
  const [plain, needy] = [fixture('plain'), fixture('plain')];
  const home = new SharedHome({
    mcpServers: { plain, needy: { ...needy, env: { ...needy.env, TOKEN: '${env:TOKEN}' } } },
    config: { audit: { arguments: true, results: false }, log: { level: 'debug' } },
    env: { TOKEN: undefined },
  });
  return { home, plain, needy };
}

/** Returns the variable as the server has it. */
async function tokenOf(client: RawClient): Promise<unknown> {
  const result = await client.callTool('needy__env', { names: ['TOKEN'] });
  return (JSON.parse(textOfResult(result)) as { readonly TOKEN?: unknown }).TOKEN;
}

const connect = async (home: SharedHome, TOKEN?: string): Promise<RawClient> =>
  (await home.pipe({ env: { TOKEN } })).client();

/** Listens as the gateway of a configuration text. Returns what it receives. */
async function poseAsGateway(home: SharedHome, config: string, text: string) {
  const received: Buffer[] = [];
  const socket = join(temporaryFolder('posing'), 'gateway.sock');
  const server = createServer((client) =>
    client.on('data', (bytes: Buffer) => {
      received.push(bytes);
      const isHello = bytes[0] === '{'.charCodeAt(0);
      client.end(isHello ? '{"trunkline":1,"notes":[]}\n' : 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
    }),
  );
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  const identity = hashIdentity({ version, config, text });
  const record = { socket, pid: process.pid, kind: 'background', ...identity, since: 1 };
  mkdirSync(home.run, { recursive: true, mode: 0o700 });
  writeFileSync(join(home.run, 'gateway.json'), JSON.stringify(record));
  return {
    received: () => Buffer.concat(received).toString(),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

describe('variables of clients', () => {
  test('variables of clients: are sent only to a gateway that uses the same text of the configuration', async () => {
    const { home } = homeWithToken();
    await using _ = home;
    const file = join(home.home, 'config.jsonc');
    const text = '{ "mcpServers": { "one": { "url": "http://127.0.0.1:9/${env:TOKEN}" } } }';
    writeFileSync(file, text);
    const there = { TOKEN: 'for-this-text-only' };
    const commands = [['status'], ['doctor'], ['refresh']];
    {
      await using other = await poseAsGateway(home, file, text.replace('TOKEN', 'OTHER'));
      for (const words of commands) await home.commandIn(there, ...words, '--json');
      expect(other.received()).toContain('/api/health');
      expect(other.received()).not.toContain(there.TOKEN);
    }
    await using same = await poseAsGateway(home, file, text);
    for (const words of commands) await home.commandIn(there, ...words, '--json');
    expect(
      same.received().match(/"(?:compare|offer)":true,"variables":\{"TOKEN":"for-this-text-only"\}/g),
    ).toHaveLength(3);
    rmSync(join(home.run, 'gateway.json'));
  });

  test(
    'variables of clients: a client with a variable makes its server usable for all, in the same gateway',
    { tags: ['slow'] },
    async () => {
      const { home, plain, needy } = homeWithToken();
      await using _ = home;
      const without = await connect(home);
      await waitForTool(without, 'plain__echo');
      const { pid } = home;
      await eventually(async () => {
        const { stdout } = await home.command('servers', '--json');
        expect(JSON.parse(stdout)).toContainEqual(
          expect.objectContaining({
            name: 'needy',
            problem: expect.objectContaining({ code: 'SECRET_MISSING' }) as unknown,
          }),
        );
      });
      const secret = 'brought-by-a-client-4711';
      const second = await home.pipe({ env: { TOKEN: secret } });
      const having = await second.client();
      expect([await tokenOf(having), await tokenOf(without)]).toEqual([secret, secret]);
      await waitForTool(without, 'needy__env');
      expect([home.pid, home.gateways()]).toEqual([pid, [pid]]);
      expect([plain, needy].map((server) => fixtureLog(server).of('started').length)).toEqual([1, 1]);
      expect(second.stderr()).not.toContain('TOKEN');

      // Commands find the gateway from a shell without the variable, and show its value nowhere.
      const shown: string[] = [];
      for (const words of [
        ['status'],
        ['servers'],
        ['doctor'],
        ['call', 'needy__pid'],
        ['restart', 'needy'],
        ['logs'],
      ]) {
        const { code, stdout, stderr } = await home.command(...words, '--json');
        expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
        shown.push(stdout);
      }
      expect(JSON.parse(shown[0] ?? '')).toMatchObject({ running: true, pid, clients: 2 });
      expect(await tokenOf(without)).toBe(secret);
      const socket = String(home.record()?.socket);
      for (const route of ['GET /api/status', 'GET /api/servers', 'GET /api/config', 'GET /api/clients'])
        shown.push((await requestOverSocket(socket, route)).text);
      shown.push(second.stderr(), ...readFilesBelow(home.home).map(([, text]) => text));
      expect(shown.filter((text) => text.includes(secret))).toEqual([]);
      expect(readFileSync(join(home.home, 'state', 'logs', 'gateway.log'), 'utf8')).toContain(
        '"variables":["TOKEN"],"servers":["needy"]',
      );
    },
  );

  test(
    'variables of clients: a differing value is reported by name, and restart in that shell makes it the one in use',
    { tags: ['slow'] },
    async () => {
      const { home, needy } = homeWithToken();
      await using _ = home;
      const first = await connect(home, 'value-one');
      expect(await tokenOf(first)).toBe('value-one');
      const { pid } = home;
      const pipe = await home.pipe({ env: { TOKEN: 'value-two' } });
      const second = await pipe.client();
      expect([await tokenOf(second), home.gateways()]).toEqual(['value-one', [pid]]);
      expect(fixtureLog(needy).of('started')).toHaveLength(1);
      expect(pipe.stderr()).toContain(
        'TOKEN has another value in this client than in the running gateway, which keeps using its own. To use the other value, run trunkline restart in a shell that has it, or store it once with trunkline secret set TOKEN and write ${secret:TOKEN} in the configuration.',
      );

      const status = await home.command('status', '--json');
      expect(JSON.parse(status.stdout)).toMatchObject({
        differingVariables: [{ name: 'TOKEN', canBeSecret: true }],
      });
      expect(status.stderr).toContain('TOKEN has another value in a connected client');
      const there = { TOKEN: 'value-three' };
      const text = await home.commandIn(there, 'status', '--text');
      expect(text.stderr).toContain('TOKEN has another value in this shell');
      const doctor = JSON.parse((await home.commandIn(there, 'doctor')).stdout) as { findings: unknown[] };
      expect(doctor.findings).toContainEqual({
        check: 'processes',
        subject: `process ${pid}`,
        status: 'warning',
        message:
          'TOKEN has another value in this shell than in the running gateway, which keeps using its own.',
        fix: expect.stringMatching(/run trunkline restart .* trunkline secret set TOKEN/) as unknown,
      });
      const call = await home.commandIn(there, 'call', 'needy__env', 'names:=["TOKEN"]', '--text');
      expect(call.stdout).toContain('value-one');
      expect(call.stderr).toContain('TOKEN has another value in this shell');
      for (const { stdout, stderr } of [status, text, { ...text, stdout: JSON.stringify(doctor) }])
        expect(stdout + stderr).not.toMatch(/value-(?:one|two|three)/);

      const restarted = await home.commandIn({ TOKEN: 'value-two' }, 'restart', '--json');
      expect(JSON.parse(restarted.stdout)).toMatchObject({ restarted: true, pid: home.pid });
      expect(home.pid).not.toBe(pid);
      expect([await tokenOf(first), await tokenOf(second)]).toEqual(['value-two', 'value-two']);
      expect(home.gateways()).toEqual([home.pid]);
      expect(JSON.parse((await home.command('status', '--json')).stdout)).toMatchObject({ clients: 2 });
    },
  );

  test('variables of clients: a new value is used when no other client is connected', async () => {
    const { home, needy } = homeWithToken();
    await using _ = home;
    const first = await connect(home, 'old');
    expect(await tokenOf(first)).toBe('old');
    const { pid } = home;
    await first.close();
    await eventually(async () => JSON.parse((await home.command('status', '--json')).stdout).clients === 0, {
      what: 'The end of the first client',
    });
    const pipe = await home.pipe({ env: { TOKEN: 'rotated' } });
    const second = await pipe.client();
    expect([await tokenOf(second), home.pid]).toEqual(['rotated', pid]);
    expect(pipe.stderr()).not.toContain('TOKEN');
    await eventually(
      () =>
        fixtureLog(needy)
          .of('started')
          .filter((started) => isRunning(Number(started.pid))).length === 1,
      { what: 'The end of the server with the old value' },
    );
  });

  test('variables of clients: a command brings those of its shell, as a client does', async () => {
    const { home } = homeWithToken();
    await using _ = home;
    const client = await connect(home);
    await client.listTools();
    const { code, stdout } = await home.commandIn(
      { TOKEN: 'of-the-shell' },
      'call',
      'needy__env',
      'names:=["TOKEN"]',
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining('of-the-shell')]);
    expect(await tokenOf(client)).toBe('of-the-shell');
  });

  test('variables of clients: one that is read at the start gets a new gateway when the last client has left', async () => {
    const { home } = homeWithToken();
    await using _ = home;
    const first = await connect(home);
    await first.listTools();
    const { pid } = home;
    const inUse = await home.pipe({ env: { TRUNKLINE_KEYCHAIN: '0' } });
    await (await inUse.client()).close();
    expect(inUse.stderr()).toContain('TRUNKLINE_KEYCHAIN has another value in this client');
    expect(inUse.stderr()).not.toContain('secret set');
    expect(home.pid).toBe(pid);
    await first.close();
    await eventually(async () => JSON.parse((await home.command('status', '--json')).stdout).clients === 0, {
      what: 'The end of the first client',
    });
    const second = await (await home.pipe({ env: { TRUNKLINE_KEYCHAIN: '0' } })).client();
    await waitForTool(second, 'plain__echo');
    expect(home.pid).not.toBe(pid);
    await eventually(() => !isRunning(pid), { what: 'The end of the first gateway' });
  });

  test('variables of clients: complete those of a gateway over HTTP, which keeps its own and is not restarted', async () => {
    const { home, plain, needy } = homeWithToken();
    await using _ = home;
    const mcpServers = { plain, needy: { ...needy, env: { ...needy.env, TOKEN: '${env:TOKEN}' } } };
    const config = { audit: { arguments: true, results: false }, log: { level: 'debug' } };
    await using http = await startGateway({
      mcpServers,
      config,
      home: home.home,
      listen: 'http',
      env: { TOKEN: undefined },
    });
    expect(await tokenOf(await connect(home, 'brought'))).toBe('brought');
    const pipe = await home.pipe({ env: { TOKEN: 'other' } });
    expect(await tokenOf(await pipe.client())).toBe('brought');
    expect(pipe.stderr()).toContain('start the gateway again in a shell that has it');
    expect(await home.commandIn({ TOKEN: 'other' }, 'restart')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `The gateway (process ${http.pid}) was started with serve --http.`,
      ) as unknown,
    });
    expect(home.pid).toBe(http.pid);
  });
});

test('restart command: says that no gateway is running', async () => {
  await using home = new SharedHome({ mcpServers: {} });
  await home.pipe().then((pipe) => pipe.client());
  await home.command('stop');
  const { code, stdout } = await home.command('restart', '--text');
  expect([code, stdout]).toEqual([0, expect.stringContaining('No gateway is running for ')]);
  expect(home.gateways()).toEqual([]);
});

test('restart command: keeps the gateway if the configuration is invalid', async () => {
  await using home = new SharedHome({ mcpServers: { plain: fixture('plain') } });
  await (await home.pipe()).client();
  const { pid } = home;
  const pipe = await home.pipe({ mcpServers: {}, config: { idleExit: 'soon' } });
  expect(await pipe.exited).toMatchObject({ code: 3 });
  expect(await home.command('restart')).toMatchObject({ code: 3 });
  expect([home.pid, home.gateways()]).toEqual([pid, [pid]]);
});
