import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { waitForValue } from './eventually.ts';
import { Screen } from './screen.ts';
import { temporaryFolder } from './test-run.ts';

/** A virtual desktop: a screen, a session bus and, if requested, the Xfce panel with a notification area. */
export interface Desktop extends AsyncDisposable {
  /** Environment variables for programs that run in it. */
  readonly env: Readonly<Record<string, string>>;
  /** The socket of its session bus. */
  readonly bus: string;
  screen(): Screen;
  /** Sends mouse and keyboard input; the arguments are those of xdotool. */
  input(...words: readonly (string | number)[]): void;
  startPanel(): Promise<void>;
  endPanel(): Promise<void>;
  endBus(): Promise<void>;
}

const PROGRAMS = {
  Xvfb: 'xvfb',
  'dbus-daemon': 'dbus-daemon',
  'xfce4-panel': 'xfce4-panel',
  xdotool: 'xdotool',
};

/** Opens a desktop; closing it ends all of its programs. */
export async function openDesktop(): Promise<Desktop> {
  needPrograms();
  const folder = temporaryFolder('desktop');
  const display = await startScreen(folder);
  const bus = join(folder, 'bus');
  const env = {
    DISPLAY: `:${display.number}`,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}`,
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_CACHE_HOME: join(folder, 'cache'),
    // Otherwise accessibility programs start and outlive the bus.
    NO_AT_BRIDGE: '1',
    GTK_A11Y: 'none',
    LC_ALL: 'C.UTF-8',
  };
  writePanelConfig(env.XDG_CONFIG_HOME);
  const daemon = spawn(
    'dbus-daemon',
    ['--session', '--nofork', `--address=unix:path=${bus}`, '--print-address'],
    {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  await once(daemon.stdout, 'data');
  let panel: ChildProcess | undefined;
  const desktop: Desktop = {
    env,
    bus,
    screen: () => new Screen(join(folder, 'Xvfb_screen0')),
    input(...words) {
      const { status, stderr } = spawnSync('xdotool', words.map(String), {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`xdotool ${words.join(' ')} failed: ${stderr}`);
    },
    async startPanel() {
      const { width } = desktop.screen();
      panel = spawn('xfce4-panel', ['--disable-wm-check'], {
        env: { ...process.env, ...env },
        stdio: 'ignore',
      });
      // The screen is black until the panel appears.
      await waitForValue(() => (desktop.screen().at(width - 2, 10)[0] > 100 ? true : undefined), {
        what: 'The panel on the screen',
        withinMs: 15_000,
      });
    },
    endPanel: () => ended(panel),
    endBus: () => ended(daemon),
    async [Symbol.asyncDispose]() {
      await ended(panel);
      await ended(daemon);
      await ended(display.process);
    },
  };
  return desktop;
}

/** Throws an error that names the packages to install if a program is missing. */
function needPrograms(): void {
  const missing = Object.entries(PROGRAMS).filter(([program]) => spawnSync('which', [program]).status !== 0);
  if (missing.length > 0)
    throw new Error(
      `There is no desktop to test with; install: ${missing.map(([, name]) => name).join(' ')}`,
    );
}

async function startScreen(
  folder: string,
): Promise<{ readonly process: ChildProcess; readonly number: string }> {
  const args = [
    '-displayfd',
    '3',
    '-screen',
    '0',
    '800x400x24',
    '-fbdir',
    folder,
    '-nolisten',
    'tcp',
    '-noreset',
  ];
  const screen = spawn('Xvfb', args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  let text = '';
  // `stdio[3]` is a pipe.
  const numbers = screen.stdio[3] as NodeJS.ReadableStream;
  numbers.on('data', (bytes: Buffer) => (text += bytes.toString()));
  const number = await waitForValue(() => /^(\d+)\n/.exec(text)?.[1], { what: 'A screen', withinMs: 15_000 });
  return { process: screen, number };
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/** Configures a bar at the top that contains only a notification area. */
function writePanelConfig(folder: string): void {
  const channels = join(folder, 'xfce4', 'xfconf', 'xfce-perchannel-xml');
  mkdirSync(channels, { recursive: true });
  const property = (name: string, type: string, value: string): string =>
    `<property name="${name}" type="${type}" value="${value}"/>`;
  writeFileSync(
    join(channels, 'xfce4-panel.xml'),
    `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  ${property('configver', 'int', '2')}
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      ${property('position', 'string', 'p=6;x=0;y=0')}
      ${property('position-locked', 'bool', 'true')}
      ${property('length', 'uint', '100')}
      ${property('size', 'uint', '32')}
      ${property('icon-size', 'uint', '22')}
      <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
    </property>
  </property>
  <property name="plugins" type="empty">${property('plugin-1', 'string', 'systray')}</property>
</channel>
`,
  );
}
