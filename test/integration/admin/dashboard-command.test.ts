import { request } from 'node:http';
import { expect, test } from 'vitest';

import { DashboardBrowser, EventLog } from '../../support/dashboard-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { SharedHome } from '../../support/shared-home.ts';
import { startGateway } from '../../support/gateway.ts';

test('dashboard command: prints a sign-in link to the background gateway, which serves no MCP there', async () => {
  await using shared = new SharedHome({ mcpServers: { files: fixture('plain') } });
  const pipe = await shared.pipe();
  await (await pipe.client()).request('tools/list');
  const printed = await shared.command('dashboard', '--print', '--config', pipe.configFile);
  expect(printed.stderr + printed.stdout).toContain('/enter?ticket=');
  const { url, opened } = JSON.parse(printed.stdout) as { url: string; opened: boolean };
  expect(opened).toBe(false);
  const browser = new DashboardBrowser(url);
  expect(new URL(url).hostname).toBe('127.0.0.1');
  expect((await browser.visit(url)).status).toBe(303);
  expect((await browser.fetch('GET', '/api/status')).json).toMatchObject({ kind: 'background' });
  expect((await browser.visit('/')).status).toBe(200);
  for (const path of ['/mcp', '/sse', '/metrics', '/healthz'])
    expect((await browser.visit(path)).status, path).toBe(404);
  expect((await browser.visit('/', { host: 'rebound.test' })).status).toBe(403);
  // A second command prints the same origin.
  const second = await shared.command('dashboard', '--print', '--config', pipe.configFile);
  expect(new URL((JSON.parse(second.stdout) as { url: string }).url).origin).toBe(browser.origin);
});

test(
  'dashboard command: starts a gateway if none runs; the session continues with the next gateway',
  { tags: ['slow'] },
  async () => {
    await using shared = new SharedHome({
      mcpServers: { files: fixture('plain') },
      config: { idleExit: '1s' },
    });
    const configFile = await writeConfig(shared);
    const { stdout, code } = await shared.command('dashboard', '--print', '--config', configFile);
    expect(code).toBe(0);
    const { url } = JSON.parse(stdout) as { url: string };
    const browser = new DashboardBrowser(url);
    await browser.visit(url);
    const { pid } = shared;
    const log = await browser.events();
    await log.of('tick');
    expect(shared.pid).toBe(pid);
    const contentType = await requestEventsOverSocket(String(shared.record()?.socket));
    expect(contentType).toBe('text/event-stream');
    log[Symbol.dispose]();
    // An open page continues with the next gateway, at the same address and with the same session.
    await shared.command('stop', '--config', configFile);
    const next = await shared.pipe();
    await (await next.client()).request('tools/list');
    const isBack = async (): Promise<boolean> => (await browser.fetch('GET', '/api/session')).status === 200;
    await eventually(isBack, { what: 'the dashboard of the next gateway', withinMs: 15_000 });
  },
);

test('dashboard command: opens the dashboard of serve --http in the browser', async () => {
  await using gateway = await startGateway({ mcpServers: { files: fixture('plain') }, listen: 'http' });
  const shared = new SharedHome({ mcpServers: {}, home: gateway.home, env: { BROWSER: 'true' } });
  const { stdout } = await shared.command('dashboard', '--config', gateway.configFile);
  expect(JSON.parse(stdout)).toEqual({ url: `${new URL(gateway.url).origin}/`, opened: true });
});

/** Writes a configuration and stops the gateway that was started for it. */
async function writeConfig(shared: SharedHome): Promise<string> {
  const pipe = await shared.pipe();
  await (await pipe.client()).request('tools/list');
  await pipe.stop();
  await shared.command('stop', '--config', pipe.configFile);
  return pipe.configFile;
}

/** Requests the same events over the socket and returns their content type. */
function requestEventsOverSocket(socketPath: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const eventRequest = request({ socketPath, path: '/api/events', agent: false }, (response) => {
      using log = EventLog.waitFor(response);
      void log;
      resolve(response.headers['content-type']);
    });
    eventRequest.on('error', reject);
    eventRequest.end();
  });
}
