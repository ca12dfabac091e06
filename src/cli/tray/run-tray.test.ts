import { describe, expect, onTestFinished, test } from 'vitest';

import { createAdminClient } from '../../admin/admin-client.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { createServer, createStatus } from './gateway-snapshot.test-support.ts';
import type { MonitoredGateway } from './gateway-monitor.ts';
import type { TrayAction } from './tray-menu.ts';
import { runTray } from './run-tray.ts';
import type { ActionListener, IconContent, TrayIcon } from './tray-icon.ts';

type Responses = Readonly<Record<string, unknown>>;

/** Imitates a gateway: responds by route and records the requests. */
function fakeGateway(responses: Responses): {
  readonly connection: MonitoredGateway;
  readonly requests: readonly string[];
  readonly emitChange: () => void;
  readonly responses: Record<string, unknown>;
} {
  const requests: string[] = [];
  const currentResponses = { ...responses };
  let change = deferred<void>();
  const client = createAdminClient(async (request) => {
    const { pathname } = new URL(request.url);
    const body = request.method === 'GET' ? '' : ` ${await request.text()}`;
    requests.push(`${request.method} ${pathname}${body}`);
    const response = await currentResponses[`${request.method} ${pathname}`];
    if (response instanceof Error) throw response;
    return new Response(JSON.stringify(response ?? { applied: { state: 'applied' } }));
  });
  async function* changes(): AsyncGenerator<string> {
    for (;;) {
      await change.promise;
      change = deferred<void>();
      yield 'change';
    }
  }
  return {
    connection: { client, changes },
    requests,
    emitChange: () => change.resolve(),
    responses: currentResponses,
  };
}

const healthy: Responses = {
  'GET /api/status': createStatus({ audit: { written: 1, dropped: 0 } }),
  'GET /api/audit/totals': { records: 4, bytes: 0 },
};

function startTray(
  first: MonitoredGateway | undefined,
  pollIntervalMs = 20,
): {
  readonly contents: IconContent[];
  readonly pages: string[];
  readonly ended: Promise<string>;
  connection: MonitoredGateway | undefined;
  choose(action: TrayAction): void;
  endDesktop(): void;
  stop(): void;
  canOpen: boolean;
  isClosed: boolean;
} {
  const desktopEnded = deferred<void>();
  const stopSignal = new AbortController();
  let choose: ActionListener = () => {};
  const tray = {
    contents: [] as IconContent[],
    pages: [] as string[],
    connection: first,
    canOpen: true,
    isClosed: false,
    choose: (action: TrayAction) => choose(action),
    endDesktop: () => desktopEnded.resolve(),
    stop: () => stopSignal.abort(),
    ended: Promise.resolve(''),
  };
  tray.ended = runTray({
    openIcon: (onAction) => {
      choose = onAction;
      return Promise.resolve({
        show: (content: IconContent) => void tray.contents.push(content),
        closed: desktopEnded.promise,
        [Symbol.asyncDispose]: async () => void (tray.isClosed = true),
      });
    },
    connect: () => Promise.resolve(tray.connection),
    openPage: (url) => {
      tray.pages.push(url.href);
      return Promise.resolve(tray.canOpen);
    },
    openDashboardLink: (link) => {
      tray.pages.push(`dashboard link ${link.href}`);
      return Promise.resolve(tray.canOpen);
    },
    openConfigEditor: () => Promise.resolve(tray.canOpen),
    now: () => Date.UTC(2026, 0, 1, 12),
    pollIntervalMs,
    signal: stopSignal.signal,
  });
  onTestFinished(async () => {
    tray.stop();
    await tray.ended;
  });
  return tray;
}

function waitForContent(tray: { readonly contents: readonly IconContent[] }, pattern: RegExp): Promise<void> {
  return eventually(() => {
    const last = tray.contents.at(-1);
    expect(`${last?.state}: ${last?.menu.map(({ label }) => label).join('\n')}`).toMatch(pattern);
  });
}

describe('tray', () => {
  test('tray: follows gateways as they start and stop', async () => {
    const tray = startTray(undefined);
    await waitForContent(tray, /^offline: /);
    tray.connection = fakeGateway(healthy).connection;
    await waitForContent(tray, /^healthy: .*2 servers[^]*Today: 4 calls, 4 errors/);
    tray.connection = fakeGateway({ 'GET /api/status': new Error('gone') }).connection;
    await waitForContent(tray, /^offline: /);
    tray.connection = fakeGateway({
      'GET /api/status': createStatus({ servers: [createServer('a')] }),
    }).connection;
    await waitForContent(tray, /^healthy: .*1 server,/);
    expect(new Set(tray.contents.map(({ state }) => state))).toEqual(new Set(['offline', 'healthy']));
  });

  test('tray: updates on change events and does not request unchanged totals again', async () => {
    const gateway = fakeGateway(healthy);
    const tray = startTray(gateway.connection, 60_000);
    await waitForContent(tray, /^healthy: /);
    gateway.responses['GET /api/status'] = createStatus({
      pausedSince: 1,
      audit: { written: 1, dropped: 0 },
    });
    gateway.emitChange();
    await waitForContent(tray, /^paused: /);
    expect(gateway.requests.filter((line) => line.includes('totals'))).toHaveLength(2);
  });

  test.each([
    [{ type: 'pause' }, 'POST /api/pause {}'],
    [{ type: 'resume' }, 'POST /api/resume {}'],
    [{ type: 'refresh' }, 'POST /api/refresh {}'],
    [{ type: 'set-enabled', server: 'a b', isEnabled: false }, 'POST /api/servers/a%20b/disable {}'],
    [{ type: 'set-enabled', server: 'a', isEnabled: true }, 'POST /api/servers/a/enable {}'],
    [
      { type: 'decide-call', call: 'c1', decision: 'refuse' },
      'POST /api/approve {"call":"c1","decision":"refuse"}',
    ],
  ] as const)('tray: sends the request for the chosen action %o', async (action, line) => {
    const gateway = fakeGateway(healthy);
    const tray = startTray(gateway.connection);
    await waitForContent(tray, /^healthy: /);
    tray.choose(action);
    await eventually(() => expect(gateway.requests).toContain(line));
  });

  test('tray: opens dashboard and sign-in pages with links from the gateway', async () => {
    const gateway = fakeGateway({
      ...healthy,
      'POST /api/session/link': { url: 'http://127.0.0.1:1/enter?ticket=t', expiresAt: 1 },
      'POST /api/servers/mail/sign-in': { url: 'https://mail.example/authorize' },
    });
    const tray = startTray(gateway.connection);
    await waitForContent(tray, /^healthy: /);
    tray.choose({ type: 'open-dashboard', page: '/' });
    await eventually(() => expect(tray.pages).toHaveLength(1));
    tray.choose({ type: 'open-dashboard', page: '/servers?add=form' });
    await eventually(() => expect(tray.pages).toHaveLength(2));
    tray.choose({ type: 'sign-in', server: 'mail' });
    await eventually(() => expect(tray.pages).toHaveLength(3));
    expect(tray.pages).toEqual([
      'dashboard link http://127.0.0.1:1/enter?ticket=t',
      'dashboard link http://127.0.0.1:1/enter?ticket=t&to=%2Fservers%3Fadd%3Dform',
      'https://mail.example/authorize',
    ]);
  });

  test('tray: shows why an action failed until another one succeeds', async () => {
    const gateway = fakeGateway({ ...healthy, 'POST /api/refresh': new Error('The disk is full.') });
    const tray = startTray(gateway.connection);
    await waitForContent(tray, /^healthy: /);
    tray.choose({ type: 'refresh' });
    await waitForContent(tray, /The disk is full\./);
    tray.choose({ type: 'pause' });
    await eventually(() => {
      expect(tray.contents.at(-1)?.menu.some(({ key }) => key === 'notice')).toBe(false);
    });
    gateway.responses['POST /api/servers/a/enable'] = {
      applied: { state: 'later', reason: 'After a restart.' },
    };
    tray.choose({ type: 'set-enabled', server: 'a', isEnabled: true });
    await waitForContent(tray, /After a restart\./);
    tray.canOpen = false;
    tray.choose({ type: 'edit-config' });
    await waitForContent(tray, /No editor can be started here\./);
    gateway.responses['POST /api/session/link'] = { url: 'http://127.0.0.1:1/enter?ticket=t', expiresAt: 1 };
    tray.choose({ type: 'open-dashboard', page: '/' });
    await waitForContent(tray, /Run: trunkline dashboard/);
  });

  test.each([
    ['quit', (tray: ReturnType<typeof startTray>) => tray.choose({ type: 'quit' })],
    ['desktop-gone', (tray: ReturnType<typeof startTray>) => tray.endDesktop()],
    ['stop-signal', (tray: ReturnType<typeof startTray>) => tray.stop()],
  ])('tray: ends with reason %s, removes its icon and shows no late response', async (reason, end) => {
    const gateway = fakeGateway(healthy);
    const tray = startTray(gateway.connection);
    await waitForContent(tray, /^healthy: /);
    const late = deferred<unknown>();
    gateway.responses['GET /api/status'] = late.promise;
    const before = gateway.requests.length;
    await eventually(() => gateway.requests.length > before);
    end(tray);
    late.resolve(createStatus({ pausedSince: 1 }));
    expect(await tray.ended).toBe(reason);
    expect(tray.isClosed).toBe(true);
    expect(new Set(tray.contents.map(({ state }) => state))).toEqual(new Set(['offline', 'healthy']));
  });

  test('tray: can be stopped before the icon exists and removes an icon that appears later', async () => {
    const stopSignal = new AbortController();
    const late = deferred<TrayIcon>();
    const ended = runTray({
      openIcon: () => late.promise,
      connect: () => Promise.resolve(undefined),
      openPage: () => Promise.resolve(false),
      openDashboardLink: () => Promise.resolve(false),
      openConfigEditor: () => Promise.resolve(false),
      now: Date.now,
      pollIntervalMs: 20,
      signal: stopSignal.signal,
    });
    stopSignal.abort();
    expect(await ended).toBe('stop-signal');
    const closed = deferred<string>();
    late.resolve({
      show: () => {},
      closed: new Promise<void>(() => {}),
      [Symbol.asyncDispose]: async () => closed.resolve('closed'),
    });
    expect(await closed.promise).toBe('closed');
  });
});
