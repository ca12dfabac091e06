import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { TrayAction } from '../../../src/cli/tray/tray-menu.ts';
import { openProgramIcon } from '../../../src/cli/tray/program/open-program-icon.ts';
import type { IconContent } from '../../../src/cli/tray/tray-icon.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

/** Draws nothing. Clicks item 2 of a menu whose first item is titled "click", and clicks again whenever an item changes. */
const drawing = `#!${process.execPath}
const click = () => process.stdout.write('{"type":"clicked","__id":2}\\n');
process.on('SIGTERM', () => process.stdout.write('{"type":"clicked","__id":2}\\n', () => process.exit()));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { type, items } = JSON.parse(line);
  if (type === 'update-item' || items?.[0].title === 'click') click();
});
setInterval(() => {}, 1000);
process.stdout.write('{"type":"ready"}\\n');
`;

test('tray menu: ignores a click on a call that another one has replaced', async () => {
  const chosen: TrayAction[] = [];
  await using icon = await openProgramIcon({
    platform: 'linux',
    folder: temporaryFolder('tray'),
    from: withProgram(),
    onAction: (action) => chosen.push(action),
  });
  icon.show(menuOf('c1', 'click'));
  await eventually(() => expect(chosen).toEqual([allow('c1')]));
  icon.show(menuOf('c2', 'wait'));
  icon.show(menuOf('c3', 'click'));
  await eventually(() => expect(chosen.at(-1)).toEqual(allow('c3')));
  icon.show(menuOf('c4', 'wait'));
  icon.show(menuOf('c5', 'click'));
  await eventually(() => expect(chosen.at(-1)).toEqual(allow('c5')));
  expect(chosen).toEqual([allow('c1'), allow('c3'), allow('c5')]);
});

function allow(call: string): TrayAction {
  return { type: 'decide-call', call, decision: 'accept' };
}

function menuOf(call: string, title: string): IconContent {
  const item = { key: `allow ${call}`, label: 'Allow this call', action: allow(call) };
  return { state: 'attention', title, menu: [{ key: 'headline', label: title }, item] };
}

/** Returns a file next to which the package is found. */
function withProgram(): string {
  const folder = temporaryFolder('package');
  const bin = join(folder, 'node_modules', 'systray2', 'traybin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, '..', 'package.json'), '{"name":"systray2"}');
  writeFileSync(join(bin, 'tray_linux_release'), drawing, { mode: 0o755 });
  return join(folder, 'any.js');
}
