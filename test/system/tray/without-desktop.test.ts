import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { openProgramIcon } from '../../../src/cli/tray/program/open-program-icon.ts';
import type { MenuItem, TrayAction } from '../../../src/cli/tray/tray-menu.ts';
import { commandHome, program } from '../../support/command.ts';
import { openDesktop } from '../../support/desktop.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const home = commandHome();

describe('tray without a desktop', () => {
  test('tray: reports a missing desktop session', async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: undefined, XDG_RUNTIME_DIR: undefined };
    const { code, stdout, stderr } = await home.run(['tray', '--text'], { env });
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toMatch(/^trunkline: There is no desktop session here: .* \[DESKTOP_MISSING\]\n$/);
  });

  test('tray: reports an unreachable session bus', async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/no/such/bus' };
    const { code, stderr } = await home.run(['tray', '--json'], { env });
    expect(code).toBe(6);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'DESKTOP_MISSING' });
  });

  test('tray: reports a missing panel and exits when the session bus ends', async () => {
    await using desktop = await openDesktop();
    const { code, stderr } = await home.run(['tray', '--text'], { env: desktop.env });
    expect(code).toBe(6);
    expect(stderr).toContain('No panel of this desktop shows tray icons.');
    await desktop.startPanel();
    const tray = spawn(process.execPath, [program, 'tray', '--text'], {
      env: { ...process.env, ...desktop.env, TRUNKLINE_HOME: home.home },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    tray.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    await eventually(() => expect(desktop.screen().count([107, 114, 128])).toBeGreaterThan(50), {
      withinMs: 15_000,
    });
    const exited = once(tray, 'exit');
    await desktop.endBus();
    expect(await exited).toEqual([0, null]);
    expect(said).toContain('The desktop session has ended');
  });
});

const quit: MenuItem = { key: 'quit', label: 'Quit', action: { type: 'quit' } };

describe('program icon', () => {
  test('program icon: names the command that installs its program', async () => {
    const from = join(temporaryFolder(), 'main.js');
    const opening = openProgramIcon({
      platform: 'darwin',
      folder: temporaryFolder(),
      from,
      onAction: () => {},
    });
    await expect(opening).rejects.toMatchObject({
      code: 'DESKTOP_MISSING',
      message: expect.stringContaining('npm install -g systray2@') as string,
    });
  });

  test('program icon: updates its menu and redraws it when the shape changes', async () => {
    const { from, lines, click } = fakePackage();
    const chosen: TrayAction[] = [];
    const folder = temporaryFolder();
    const icon = await openProgramIcon({
      platform: 'linux',
      folder,
      from,
      onAction: (it) => chosen.push(it),
    });
    icon.show({ state: 'healthy', title: 'one', menu: [{ key: 'top', label: 'first' }, quit] });
    await eventually(() => expect(lines()).toHaveLength(1));
    expect(lines()[0]).toMatchObject({
      tooltip: 'one',
      items: [
        { title: 'first', enabled: false, __id: 1 },
        { title: 'Quit', enabled: true, __id: 2 },
      ],
    });
    icon.show({ state: 'paused', title: 'two', menu: [{ key: 'top', label: 'second' }, quit] });
    await eventually(() => expect(lines()).toHaveLength(3));
    expect(lines().slice(1)).toMatchObject([
      { type: 'update-item', item: { title: 'second', __id: 1 } },
      { type: 'update-menu', menu: { tooltip: 'two' } },
    ]);
    click(2);
    await eventually(() => expect(chosen).toEqual([{ type: 'quit' }]));
    icon.show({ state: 'offline', title: 'three', menu: [quit] });
    await eventually(() => expect(lines().at(-1)).toMatchObject({ tooltip: 'three', items: [{ __id: 1 }] }));
    await icon[Symbol.asyncDispose]();
  });

  test('program icon: ends when its program exits', async () => {
    const { from, lines, click } = fakePackage();
    const icon = await openProgramIcon({
      platform: 'linux',
      folder: temporaryFolder(),
      from,
      onAction: () => {},
    });
    icon.show({ state: 'healthy', title: 'one', menu: [quit] });
    await eventually(() => expect(lines()).toHaveLength(1));
    click(0);
    await icon.closed;
    await icon[Symbol.asyncDispose]();
    expect(lines()).toHaveLength(1);
  });
});

/** Creates an installed package whose program is not executable and records its input. */
function fakePackage(): {
  readonly from: string;
  readonly lines: () => readonly unknown[];
  /** Id 0 ends the program. */
  readonly click: (id: number) => void;
} {
  const folder = temporaryFolder('package');
  const root = join(folder, 'node_modules', 'systray2');
  mkdirSync(join(root, 'traybin'), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{"name":"systray2","version":"2.1.4"}');
  const [heard, clicks] = [join(folder, 'heard'), join(folder, 'clicks')];
  for (const file of [heard, clicks]) writeFileSync(file, '');
  const file = join(root, 'traybin', 'tray_linux_release');
  writeFileSync(file, `#!${process.execPath}\n${stub(heard, clicks)}`);
  chmodSync(file, 0o644);
  return {
    from: join(folder, 'main.js'),
    lines: () =>
      readFileSync(heard, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown),
    click: (id) => appendFileSync(clicks, `${id}\n`),
  };
}

function stub(heard: string, clicks: string): string {
  return `
const { appendFileSync, readFileSync } = require('node:fs');
console.log('{"type":"ready"}');
let seen = readFileSync(${JSON.stringify(clicks)}, 'utf8').length;
setInterval(() => {
  const text = readFileSync(${JSON.stringify(clicks)}, 'utf8');
  for (const id of text.slice(seen).split('\\n').filter(Boolean).map(Number)) {
    if (id === 0) process.exit(0);
    console.log(JSON.stringify({ type: 'clicked', item: {}, seq_id: -1, __id: id }));
  }
  seen = text.length;
}, 20);
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.includes('"exit"')) process.exit(0);
  appendFileSync(${JSON.stringify(heard)}, line + '\\n');
}).on('close', () => process.exit(0));
`;
}
