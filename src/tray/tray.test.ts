import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { adminClient } from '../admin/client.ts';
import { deferred } from '../lib/deferred.ts';
import { eventually } from '../../test/support/eventually.ts';
import { server, status } from './facts.test-support.ts';
import type { Reached } from './gateway-watch.ts';
import type { TrayAction } from './menu.ts';
import { runTray } from './tray.ts';
import type { Shown, TrayIcon } from './tray-icon.ts';

type Answers = Readonly<Record<string, unknown>>;

/** A gateway in a few lines: what it answers by route, and what it was asked. */
function fakeGateway(answers: Answers): {
  readonly reached: Reached;
  readonly asked: readonly string[];
  readonly tell: () => void;
  readonly answers: Record<string, unknown>;
} {
  const asked: string[] = [];
  const current = { ...answers };
  let told = deferred<void>();
  const client = adminClient(async (request) => {
    const { pathname } = new URL(request.url);
    const body = request.method === 'GET' ? '' : ` ${await request.text()}`;
    asked.push(`${request.method} ${pathname}${body}`);
    const answer = current[`${request.method} ${pathname}`];
    if (answer instanceof Error) throw answer;
    return new Response(JSON.stringify(answer ?? { applied: { state: 'applied' } }));
  });
  async function* changes(): AsyncGenerator<string> {
    for (;;) {
      await told.promise;
      told = deferred<void>();
      yield 'change';
    }
  }
  return { reached: { client, changes }, asked, tell: () => told.resolve(), answers: current };
}

const well: Answers = {
  'GET /api/status': status({ audit: { written: 1, dropped: 0 } }),
  'GET /api/audit/totals': { records: 4, bytes: 0 },
};

function opened(
  first: Reached | undefined,
  everyMs = 20,
): {
  readonly shown: Shown[];
  readonly pages: string[];
  readonly ended: Promise<string>;
  reached: Reached | undefined;
  choose(action: TrayAction): void;
  leave(): void;
  stop(): void;
  canOpen: boolean;
  isClosed: boolean;
} {
  const gone = deferred<void>();
  const told = new AbortController();
  const opening = deferred<(action: TrayAction) => void>();
  let chosen: (action: TrayAction) => void = () => {};
  const tray = {
    shown: [] as Shown[],
    pages: [] as string[],
    reached: first,
    canOpen: true,
    isClosed: false,
    choose: (action: TrayAction) => chosen(action),
    leave: () => gone.resolve(),
    stop: () => told.abort(),
    ended: Promise.resolve(''),
  };
  tray.ended = runTray({
    openIcon: (onChosen) => {
      chosen = onChosen;
      opening.resolve(onChosen);
      return Promise.resolve({
        show: (shown: Shown) => void tray.shown.push(shown),
        gone: gone.promise,
        [Symbol.asyncDispose]: async () => void (tray.isClosed = true),
      });
    },
    connect: () => Promise.resolve(tray.reached),
    openPage: (url) => {
      tray.pages.push(url.href);
      return Promise.resolve(tray.canOpen);
    },
    openPrivately: (link) => {
      tray.pages.push(`privately ${link.href}`);
      return Promise.resolve(tray.canOpen);
    },
    edit: () => Promise.resolve(tray.canOpen),
    now: () => Date.UTC(2026, 0, 1, 12),
    everyMs,
    signal: told.signal,
  });
  onTestFinished(async () => {
    tray.stop();
    await tray.ended;
  });
  return tray;
}

function shows(tray: { readonly shown: readonly Shown[] }, words: RegExp): Promise<void> {
  return eventually(() => {
    const last = tray.shown.at(-1);
    expect(`${last?.look}: ${last?.menu.map(({ label }) => label).join('\n')}`).toMatch(words);
  });
}

describe('the tray', () => {
  test('shows that there is no gateway, then the one that comes, then that it went, then the next', async () => {
    const tray = opened(undefined);
    await shows(tray, /^away: /);
    tray.reached = fakeGateway(well).reached;
    await shows(tray, /^well: .*2 servers[^]*Today: 4 calls, 4 errors/);
    tray.reached = fakeGateway({ 'GET /api/status': new Error('gone') }).reached;
    await shows(tray, /^away: /);
    tray.reached = fakeGateway({ 'GET /api/status': status({ servers: [server('a')] }) }).reached;
    await shows(tray, /^well: .*1 server,/);
    expect(new Set(tray.shown.map(({ look }) => look))).toEqual(new Set(['away', 'well']));
  });

  test('follows what changes, and does not count again what is counted', async () => {
    const gateway = fakeGateway(well);
    const tray = opened(gateway.reached, 60_000);
    await shows(tray, /^well: /);
    gateway.answers['GET /api/status'] = status({ pausedSince: 1, audit: { written: 1, dropped: 0 } });
    gateway.tell();
    await shows(tray, /^paused: /);
    expect(gateway.asked.filter((line) => line.includes('totals'))).toHaveLength(2);
  });

  test.each([
    [{ do: 'pause' }, 'POST /api/pause {}'],
    [{ do: 'resume' }, 'POST /api/resume {}'],
    [{ do: 'refresh' }, 'POST /api/refresh {}'],
    [{ do: 'switch', server: 'a b', isOn: false }, 'POST /api/servers/a%20b/disable {}'],
    [{ do: 'switch', server: 'a', isOn: true }, 'POST /api/servers/a/enable {}'],
    [{ do: 'decide', call: 'c1', decision: 'refuse' }, 'POST /api/approve {"call":"c1","decision":"refuse"}'],
  ] as const)('asks for what was chosen: %o', async (action, line) => {
    const gateway = fakeGateway(well);
    const tray = opened(gateway.reached);
    await shows(tray, /^well: /);
    tray.choose(action);
    await eventually(() => expect(gateway.asked).toContain(line));
  });

  test('opens pages with links that the gateway makes', async () => {
    const gateway = fakeGateway({
      ...well,
      'POST /api/session/link': { url: 'http://127.0.0.1:1/enter?ticket=t', expiresAt: 1 },
      'POST /api/servers/mail/sign-in': { url: 'https://mail.example/authorize' },
    });
    const tray = opened(gateway.reached);
    await shows(tray, /^well: /);
    tray.choose({ do: 'open', page: '/' });
    await eventually(() => expect(tray.pages).toHaveLength(1));
    tray.choose({ do: 'open', page: '/servers?add=form' });
    await eventually(() => expect(tray.pages).toHaveLength(2));
    tray.choose({ do: 'sign-in', server: 'mail' });
    await eventually(() => expect(tray.pages).toHaveLength(3));
    expect(tray.pages).toEqual([
      'privately http://127.0.0.1:1/enter?ticket=t',
      'privately http://127.0.0.1:1/enter?ticket=t&to=%2Fservers%3Fadd%3Dform',
      'https://mail.example/authorize',
    ]);
  });

  test('says why something could not be done, until something else could', async () => {
    const gateway = fakeGateway({ ...well, 'POST /api/refresh': new Error('The disk is full.') });
    const tray = opened(gateway.reached);
    await shows(tray, /^well: /);
    tray.choose({ do: 'refresh' });
    await shows(tray, /The disk is full\./);
    tray.choose({ do: 'pause' });
    await eventually(() => {
      expect(tray.shown.at(-1)?.menu.some(({ key }) => key === 'notice')).toBe(false);
    });
    gateway.answers['POST /api/servers/a/enable'] = {
      applied: { state: 'later', reason: 'After a restart.' },
    };
    tray.choose({ do: 'switch', server: 'a', isOn: true });
    await shows(tray, /After a restart\./);
    tray.canOpen = false;
    tray.choose({ do: 'edit' });
    await shows(tray, /No editor can be started here\./);
    gateway.answers['POST /api/session/link'] = { url: 'http://127.0.0.1:1/enter?ticket=t', expiresAt: 1 };
    tray.choose({ do: 'open', page: '/' });
    await shows(tray, /try: trunkline dashboard/);
  });

  test.each([
    ['quit', (tray: ReturnType<typeof opened>) => tray.choose({ do: 'quit' })],
    ['desktop-gone', (tray: ReturnType<typeof opened>) => tray.leave()],
    ['told', (tray: ReturnType<typeof opened>) => tray.stop()],
  ])('ends with the reason %s and takes its icon away', async (reason, end) => {
    const tray = opened(fakeGateway(well).reached);
    await shows(tray, /^well: /);
    end(tray);
    expect(await tray.ended).toBe(reason);
    expect(tray.isClosed).toBe(true);
    const count = tray.shown.length;
    await vi.waitFor(() => expect(tray.shown).toHaveLength(count));
  });

  test('can be ended while it waits for a panel, and takes an icon away that comes later', async () => {
    const told = new AbortController();
    const late = deferred<TrayIcon>();
    const ended = runTray({
      openIcon: () => late.promise,
      connect: () => Promise.resolve(undefined),
      openPage: () => Promise.resolve(false),
      openPrivately: () => Promise.resolve(false),
      edit: () => Promise.resolve(false),
      now: Date.now,
      everyMs: 20,
      signal: told.signal,
    });
    told.abort();
    expect(await ended).toBe('told');
    const closed = deferred<string>();
    late.resolve({
      show: () => {},
      gone: new Promise<void>(() => {}),
      [Symbol.asyncDispose]: async () => closed.resolve('closed'),
    });
    expect(await closed.promise).toBe('closed');
  });
});
