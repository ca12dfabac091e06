import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { DbusConnection } from '../../../src/cli/tray/notifier/dbus/dbus-connection.ts';
import type { DbusVariant } from '../../../src/cli/tray/notifier/dbus/dbus-value.ts';
import { drawIcon } from '../../../src/cli/tray/draw-icon.ts';
import type { IconState } from '../../../src/cli/tray/tray-state.ts';
import { type CommandHome, commandHome, program } from '../../support/command.ts';
import { type Desktop, openDesktop } from '../../support/desktop.ts';
import { eventually, waitForValue } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { Colour } from '../../support/screen.ts';
import { redirectTargetOf, createRecordingBrowser } from '../../support/recording-browser.ts';
import { needs } from '../../support/needs.ts';

needs('desktop');

checkLeaks();

const mcpServers = {
  files: fixture('plain'),
  tracker: fixture('structured'),
  weather: { command: 'no-such-program' },
};
const home: CommandHome = commandHome(mcpServers);
const browser = createRecordingBrowser();
let desktop: Desktop;
let gateway: RunningGateway;
let tray: ChildProcess;
let said = '';

beforeAll(async () => {
  desktop = await openDesktop();
  await desktop.startPanel();
  gateway = await startServing();
  tray = spawn(process.execPath, [program, 'tray'], {
    cwd: home.home,
    env: { ...process.env, TRUNKLINE_HOME: home.home, ...desktop.env, BROWSER: browser.program },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  tray.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
});

afterAll(async () => {
  tray.kill('SIGKILL');
  await gateway[Symbol.asyncDispose]();
  await desktop[Symbol.asyncDispose]();
});

describe('tray icon with a panel', () => {
  test('tray icon: shows that something needs attention', async () => {
    await iconIs('attention');
    expect(said).toBe('');
  });

  test('tray menu: opens with a click and pauses serving', async () => {
    await openMenu();
    if (process.env['UPDATE_SCREENSHOTS'] !== undefined) {
      const file = fileURLToPath(new URL('../../../docs/images/tray.png', import.meta.url));
      mkdirSync(dirname(file), { recursive: true });
      desktop.screen().save(file, { width: 515, height: 294 });
    }
    // The last items are "pause", a separator and "quit".
    desktop.input('key', 'Up', 'Up', 'Return');
    await iconIs('paused');
    const status = (await home.json(['status'])) as { pausedSince?: number };
    expect(status.pausedSince).toBeGreaterThan(0);
    const { code, stderr } = await home.run(['call', 'files__echo', 'text=hello']);
    expect(code).toBe(4);
    expect(stderr).toContain('PAUSED');
  });

  test('tray icon: notices a stopped gateway and finds its paused successor', async () => {
    await gateway.stop();
    await iconIs('offline');
    gateway = await startServing();
    await iconIs('paused');
    expect(tray.exitCode).toBeNull();
  });

  test('tray menu: works over D-Bus for other panels', async () => {
    await using menu = await busMenu();
    expect(await menu.labels()).toEqual([
      expect.stringMatching(/^Trunkline is paused/),
      expect.stringMatching(/^Today: \d+ calls?, \d+ errors?$/),
      '',
      expect.stringMatching(/^Fix weather: cannot be started/),
      '',
      'Servers (3 of 3 on)',
      'Add a server…',
      '',
      'Open dashboard',
      'Edit configuration…',
      'Re-index all tools',
      'Resume serving',
      '',
      'Quit the tray icon',
    ]);
    await menu.choose('Resume serving');
    await iconIs('attention');
    expect(menu.told()).toEqual(
      expect.arrayContaining(['NewIcon', 'NewTitle', 'NewToolTip', 'LayoutUpdated']),
    );
    expect((await home.run(['call', 'files__echo', 'text=hello'])).stdout).toContain('hello');
  });

  test('tray menu: disables and enables a server in the config file', async () => {
    await using menu = await busMenu();
    await menu.choose('tracker: ready, 8 tools');
    await eventually(async () => expect(await menu.labels()).toContain('Servers (2 of 3 on)'));
    expect(readFileSync(home.configFile, 'utf8')).toContain('"enabled": false');
    await menu.choose('tracker: off');
    await eventually(async () => expect(await menu.labels()).toContain('Servers (3 of 3 on)'));
    expect(readFileSync(home.configFile, 'utf8')).not.toContain('"enabled": false');
  });

  test('tray menu: opens the dashboard with a single-use link', async () => {
    await using menu = await busMenu();
    await menu.choose('Add a server…');
    const link = redirectTargetOf(await waitForValue(() => browser.openedPages().at(-1), { what: 'A page' }));
    const first = await fetch(link, { redirect: 'manual' });
    expect(first.headers.get('location')).toBe('/servers?add=form');
    expect(first.headers.get('set-cookie')).toContain('HttpOnly');
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(403);
  });

  test('dashboard link: redirects only to dashboard pages', async () => {
    await using menu = await busMenu();
    for (const to of [
      '//evil.example',
      'https://evil.example',
      '/\\evil.example',
      '/api/status',
      '/a\r\nx: y',
    ]) {
      const count = browser.openedPages().length;
      await menu.choose('Open dashboard');
      const link = redirectTargetOf(
        await waitForValue(() => browser.openedPages()[count], { what: 'A page' }),
      );
      const { headers } = await fetch(`${link}&to=${encodeURIComponent(to)}`, { redirect: 'manual' });
      expect(headers.get('location')).toBe('/');
    }
  });

  test('tray icon: reappears after the panel restarts', async () => {
    await desktop.endPanel();
    await desktop.startPanel();
    await iconIs('attention');
    expect(tray.exitCode).toBeNull();
  });

  test('tray menu: quits the tray', async () => {
    await openMenu();
    const exited = once(tray, 'exit');
    desktop.input('key', 'Up', 'Return');
    expect(await exited).toEqual([0, null]);
    expect(said).toBe('');
    await eventually(() => expect(iconAt('attention')).toBeUndefined());
  });
});

function startServing(): Promise<RunningGateway> {
  return startGateway({ mcpServers, home: home.home, listen: 'http' });
}

/** Returns the position of the icon. */
function iconAt(state: IconState): { readonly x: number; readonly y: number } | undefined {
  return desktop.screen().find(tileOf(state));
}

/** Marks do not reach the edge, so the background colour of the icon is centred. */
function tileOf(state: IconState): Colour {
  const { rgba, width } = drawIcon(state, 22);
  const at = width * 2 * 4 + (width / 2) * 4;
  const [red = 0, green = 0, blue = 0] = rgba.subarray(at, at + 3);
  return [red, green, blue];
}

async function iconIs(state: IconState): Promise<void> {
  await waitForValue(() => iconAt(state), { what: `The icon with the state ${state}`, withinMs: 15_000 });
}

/** Opens the menu, which is white on a black screen. */
async function openMenu(): Promise<void> {
  const white = (): number => desktop.screen().count([255, 255, 255]);
  const before = white();
  const { x, y } = await waitForValue(() => iconAt('attention'), { what: 'The icon' });
  desktop.input('mousemove', x, y, 'click', '1');
  await eventually(() => expect(white()).toBeGreaterThan(before + 20_000), { what: 'The menu' });
}

/** The menu as a panel reads it over the session bus. */
interface BusMenu extends AsyncDisposable {
  labels(): Promise<readonly string[]>;
  choose(label: string): Promise<void>;
  /** Returns the signals since the menu was opened. */
  told(): readonly string[];
}

async function busMenu(): Promise<BusMenu> {
  const bus = await DbusConnection.open(desktop.bus, process.getuid?.() ?? 0);
  const target = {
    destination: `org.kde.StatusNotifierItem-${tray.pid}-1`,
    path: '/MenuBar',
    interface: 'com.canonical.dbusmenu',
  };
  const told: string[] = [];
  bus.onSignal(({ member = '' }) => told.push(member));
  await bus.callBus('AddMatch', { signature: 's', body: [`type='signal',sender='${target.destination}'`] });
  const items = async (): Promise<readonly ShownItem[]> => {
    const [, root] = await bus.call(
      { ...target, member: 'GetLayout' },
      { signature: 'iias', body: [0, -1, []] },
    );
    return itemsBelow(root as unknown as BusNode, 0);
  };
  return {
    told: () => told,
    labels: async () => (await items()).filter(({ depth }) => depth === 0).map(({ label }) => label),
    async choose(label) {
      const chosen = (await items()).find((item) => item.label === label);
      if (chosen === undefined) throw new Error(`The menu has no "${label}".`);
      const body = [chosen.id, 'clicked', { signature: 'i', value: 0 }, 0];
      await bus.call({ ...target, member: 'Event' }, { signature: 'isvu', body });
    },
    async [Symbol.asyncDispose]() {
      bus[Symbol.dispose]();
    },
  };
}

interface ShownItem {
  readonly id: number;
  readonly label: string;
  readonly depth: number;
}

type BusNode = readonly [number, readonly (readonly [string, DbusVariant])[], readonly DbusVariant[]];

function itemsBelow([, , children]: BusNode, depth: number): readonly ShownItem[] {
  return children.flatMap(({ value }) => {
    // `GetLayout` returns a tree of `BusNode`.
    const node = value as unknown as BusNode;
    const label = node[1].find(([name]) => name === 'label')?.[1].value;
    const shown = typeof label === 'string' ? label.replaceAll('__', '_') : '';
    return [{ id: node[0], label: shown, depth }, ...itemsBelow(node, depth + 1)];
  });
}
