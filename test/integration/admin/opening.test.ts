import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { DashboardBrowser } from '../../support/dashboard-browser.ts';
import { eventually, waitForValue } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { SharedHome } from '../../support/shared-home.ts';
import {
  redirectTargetOf,
  type RecordingBrowser,
  createRecordingBrowser,
} from '../../support/recording-browser.ts';

const start = () => startGateway({ mcpServers: { files: fixture('plain') }, listen: 'http' });

describe('opening the dashboard', () => {
  test('dashboard link: keeps its ticket off the command line, in a private page that is deleted after use', async () => {
    await using gateway = await start();
    const browser = createRecordingBrowser();
    expect(await dashboard(gateway, { BROWSER: browser.program })).toMatchObject({ opened: true });
    const page = await toldPage(browser);
    expect(page).toMatch(/^file:\/\/\/[^ ]+\/run\/enter-[0-9a-f]{32}\.html$/);
    expect(statSync(fileURLToPath(page)).mode & 0o777).toBe(0o600);
    expect(statSync(join(fileURLToPath(page), '..')).mode & 0o777).toBe(0o700);
    const link = redirectTargetOf(page);
    expect(page).not.toContain(new URL(link).searchParams.get('ticket'));
    const visitor = new DashboardBrowser(gateway.url);
    expect((await visitor.visit(link)).status).toBe(303);
    // A used page is deleted.
    await eventually(() => expect(existsSync(fileURLToPath(page))).toBe(false));
  });

  test('dashboard link: deletes an unopened page when the gateway stops', async () => {
    const gateway = await start();
    await using _ = gateway;
    const browser = createRecordingBrowser();
    await dashboard(gateway, { BROWSER: browser.program });
    const page = fileURLToPath(await toldPage(browser));
    expect(existsSync(page)).toBe(true);
    await gateway.stop();
    expect(existsSync(page)).toBe(false);
  });

  test('dashboard link: prints the link and leaves no page when the browser cannot start', async () => {
    await using gateway = await start();
    const said = await dashboard(gateway, { BROWSER: 'no-such-browser' });
    expect(said).toMatchObject({ opened: false, url: expect.stringContaining('/enter?ticket=') as string });
    expect(pagesOf(gateway)).toEqual([]);
  });

  test.each([
    ['firefox.desktop', true],
    ['firefox_firefox.desktop', false],
  ])(
    'dashboard link: default browser %s opens the page: %s (snap browsers cannot read it)',
    async (name, opened) => {
      await using gateway = await start();
      const browser = createRecordingBrowser('xdg-open');
      writeFileSync(join(browser.folder, 'xdg-mime'), `#!/bin/sh\necho ${name}\n`, { mode: 0o755 });
      const path = `${browser.folder}:${process.env['PATH'] ?? ''}`;
      const said = await dashboard(gateway, { BROWSER: '', DISPLAY: ':0', PATH: path });
      expect(said.opened).toBe(opened);
      expect(said.url.includes('/enter?ticket=')).toBe(!opened);
      expect(pagesOf(gateway)).toHaveLength(opened ? 1 : 0);
    },
  );
});

async function dashboard(
  { home, configFile }: RunningGateway,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; readonly opened: boolean }> {
  const shared = new SharedHome({ mcpServers: {}, home, env });
  const { stdout } = await shared.command('dashboard', '--config', configFile);
  return JSON.parse(stdout) as { url: string; opened: boolean };
}

function toldPage(browser: RecordingBrowser): Promise<string> {
  return waitForValue(() => browser.openedPages().at(-1), { what: 'A page' });
}

function pagesOf({ home }: RunningGateway): readonly string[] {
  return readdirSync(join(home, 'state', 'run')).filter((name) => name.endsWith('.html'));
}
