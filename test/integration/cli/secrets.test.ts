import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { fixture, startHttpFixture } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const servers = {
  late: {
    ...fixture('plain'),
    env: { TOKEN: 'Bearer ${secret:LATE_TOKEN}', OTHER: '${keychain:LATE_TOKEN}' },
  },
  variable: { ...fixture('plain'), env: { TOKEN: '${env:UNSET_HERE}' } },
};
const home = commandHome(servers);
const value = 'the-hidden-value-of-the-secret';

/** Returns the recorded actions on a secret, the oldest first. */
async function eventsOf(name: string): Promise<readonly unknown[]> {
  const { stdout } = await home.run(['logs', '--export', 'jsonl']);
  expect(stdout).not.toContain(value);
  const records = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as object]));
  return records.flatMap((record) =>
    'entry' in record && record.entry === name && 'action' in record ? [record.action] : [],
  );
}

describe('secret', () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ mcpServers: servers, home: home.home, listen: 'http' });
  });
  afterAll(() => gateway.stop());

  test('secret set: stores a value from standard input, and the running gateway restarts its servers', async () => {
    const before = await home.run(['refresh', 'late', '--text']);
    expect([before.code, before.stderr]).toEqual([
      3,
      expect.stringContaining('Store its value with: trunkline secret set LATE_TOKEN'),
    ]);
    const set = await home.run(['secret', 'set', 'LATE_TOKEN', '--text'], { input: `${value}\n` });
    expect([set.code, set.stdout]).toEqual([
      0,
      'Stored LATE_TOKEN in the encrypted database of Trunkline. Refer to it with ${secret:LATE_TOKEN}\n',
    ]);
    expect(set.stderr).toContain('Restarted with the new value: late');
    expect(await home.json(['refresh', 'late'])).toMatchObject({ state: 'ready' });
    // An unset variable has the value of the secret of the same name, so one command is enough.
    await home.run(['secret', 'set', 'UNSET_HERE'], { input: value });
    expect(await home.json(['refresh', 'variable'])).toMatchObject({ state: 'ready' });
    const all = [set.stdout, set.stderr, gateway.stderr(), (await home.run(['secret', 'list'])).stdout];
    expect(all.join('')).not.toContain(value);
    const files = readdirSync(home.home, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    for (const { name, parentPath } of files)
      expect(readFileSync(join(parentPath, name)).includes(value)).toBe(false);
  });

  test('secret rm: deletes a value, and says so if there is none', async () => {
    await home.run(['secret', 'set', 'GONE'], { input: value });
    expect(await home.json(['secret', 'list'])).toContainEqual(
      expect.objectContaining({ name: 'GONE', place: 'vault' }),
    );
    expect(await home.run(['secret', 'rm', 'GONE', '--text'])).toMatchObject({
      code: 0,
      stdout: 'Deleted GONE.\n',
    });
    const again = await home.run(['secret', 'rm', 'GONE']);
    expect(again.stderr).toContain('No secret "GONE" is stored.');
    expect(await eventsOf('GONE')).toEqual(['store-secret', 'delete-secret']);
  });
});

test('secret: is recorded in the audit log without its value, also without a gateway', async () => {
  await home.run(['secret', 'set', 'ALONE'], { input: value });
  await home.run(['secret', 'rm', 'ALONE']);
  expect(await eventsOf('ALONE')).toEqual(['store-secret', 'delete-secret']);
});

test('secret: is recorded in the audit log when add moves it out of the new entry', async () => {
  const header = `Authorization: Bearer ghp_${'a1B2'.repeat(9)}`;
  const words = ['--url', 'http://127.0.0.1:9/mcp', '--header', header, '--references', 'secret', '--trust'];
  const { stderr } = await home.run(['add', 'moved', ...words, '--text']);
  expect(stderr).toContain('Stored MOVED_TOKEN in');
  expect(await eventsOf('MOVED_TOKEN')).toEqual(['store-secret']);
});

test('secret set: refuses a value on the command line, and an empty one', async () => {
  const argv = await home.run(['secret', 'set', 'TOKEN', value]);
  expect([argv.code, argv.stderr]).toEqual([2, expect.stringContaining('not taken from the command line')]);
  expect(argv.stderr).not.toContain(value);
  expect(await home.run(['secret', 'set', 'TOKEN'])).toMatchObject({ code: 2, stdout: '' });
  expect(await home.run(['secret', 'set', '../x'], { input: value })).toMatchObject({ code: 2 });
});

test('headersHelper: its headers are sent, and it runs again when the server answers 401', async () => {
  await using upstream = await startHttpFixture('plain');
  // Accepts only the headers of the second run, as a server does after a token has expired.
  const proxy = createServer((incoming, outgoing) => {
    if (incoming.headers['x-run'] !== '2') return void outgoing.writeHead(401).end();
    const { method, headers } = incoming;
    const forwarded = httpRequest(upstream.url, {
      method,
      headers: { ...headers, host: new URL(upstream.url).host },
    });
    forwarded.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const { port } = proxy.address() as AddressInfo;
  const runs = join(home.home, 'runs');
  const helper = `echo x >> '${runs}'; printf '{"X-Run": "%s"}' $(grep -c x '${runs}')`;
  const entry = { url: `http://127.0.0.1:${port}/mcp`, headersHelper: helper };
  const other = commandHome({ remote: entry });
  const { code, stdout, stderr } = await other.run(['call', 'remote__echo', 'text=hello', '--text']);
  expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('hello'), '']);
  expect(readFileSync(runs, 'utf8')).toBe('x\nx\n');
});
