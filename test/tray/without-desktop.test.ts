import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { programIcon } from '../../src/tray/program/program-icon.ts';
import type { MenuItem, TrayAction } from '../../src/tray/menu.ts';
import { commandHome, program } from '../support/command.ts';
import { openDesktop } from '../support/desktop.ts';
import { eventually } from '../support/eventually.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { temporaryFolder } from '../support/test-run.ts';

checkLeaks();

const home = commandHome();

describe('the tray without a desktop', () => {
  test('says so and ends, where there is no session', async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: undefined, XDG_RUNTIME_DIR: undefined };
    const { code, stdout, stderr } = await home.run(['tray', '--text'], { env });
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toMatch(/^trunkline: There is no desktop here: .* \[DESKTOP_MISSING\]\n$/);
  });

  test('says so and ends, where nobody listens at the address of the bus', async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/no/such/bus' };
    const { code, stderr } = await home.run(['tray', '--json'], { env });
    expect(code).toBe(6);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'DESKTOP_MISSING' });
  });

  test('says what shows icons, where no panel does, and ends with its bus', async () => {
    await using desktop = await openDesktop();
    const { code, stderr } = await home.run(['tray', '--text'], { env: desktop.env });
    expect(code).toBe(6);
    expect(stderr).toContain('No panel of this desktop shows icons of programs.');
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
    expect(said).toContain('The desktop has ended');
  }, 60_000);
});

const quit: MenuItem = { key: 'quit', label: 'Quit', action: { do: 'quit' } };

describe('an icon that a program draws', () => {
  test('names the command that installs the program', async () => {
    const from = join(temporaryFolder(), 'main.js');
    const opening = programIcon({ platform: 'darwin', folder: temporaryFolder(), from, onChosen: () => {} });
    await expect(opening).rejects.toMatchObject({
      code: 'DESKTOP_MISSING',
      message: expect.stringContaining('npm install -g systray2@') as string,
    });
  });

  test('is told the menu and its changes, and is drawn anew for another shape', async () => {
    const { from, lines, click } = fakePackage();
    const chosen: TrayAction[] = [];
    const folder = temporaryFolder();
    const icon = await programIcon({ platform: 'linux', folder, from, onChosen: (it) => chosen.push(it) });
    icon.show({ look: 'well', title: 'one', menu: [{ key: 'top', label: 'first' }, quit] });
    await eventually(() => expect(lines()).toHaveLength(1));
    expect(lines()[0]).toMatchObject({
      tooltip: 'one',
      items: [
        { title: 'first', enabled: false, __id: 1 },
        { title: 'Quit', enabled: true, __id: 2 },
      ],
    });
    icon.show({ look: 'paused', title: 'two', menu: [{ key: 'top', label: 'second' }, quit] });
    await eventually(() => expect(lines()).toHaveLength(3));
    expect(lines().slice(1)).toMatchObject([
      { type: 'update-item', item: { title: 'second', __id: 1 } },
      { type: 'update-menu', menu: { tooltip: 'two' } },
    ]);
    click(2);
    await eventually(() => expect(chosen).toEqual([{ do: 'quit' }]));
    icon.show({ look: 'away', title: 'three', menu: [quit] });
    await eventually(() => expect(lines().at(-1)).toMatchObject({ tooltip: 'three', items: [{ __id: 1 }] }));
    await icon[Symbol.asyncDispose]();
  });

  test('is gone when its program ends', async () => {
    const { from, lines, click } = fakePackage();
    const icon = await programIcon({
      platform: 'linux',
      folder: temporaryFolder(),
      from,
      onChosen: () => {},
    });
    icon.show({ look: 'well', title: 'one', menu: [quit] });
    await eventually(() => expect(lines()).toHaveLength(1));
    click(0);
    await icon.gone;
    await icon[Symbol.asyncDispose]();
    expect(lines()).toHaveLength(1);
  });
});

/** A package as it is installed: its program may not be run, and writes down what it is told. */
function fakePackage(): {
  readonly from: string;
  readonly lines: () => readonly unknown[];
  /** Zero ends the program. */
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
