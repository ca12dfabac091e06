import { describe, expect, test } from 'vitest';

import { waitForTool } from '../../support/client-helpers.ts';
import { fixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { openDashboard, seriousProblems } from './support.ts';
import { needs } from '../../support/needs.ts';

needs('chromium');

checkLeaks();

/** Every page, with a text that appears once the page is complete. */
const pages: Readonly<Record<string, string>> = {
  '/': 'Tokens',
  '/servers': 'broken',
  '/servers?server=one': 'About',
  '/tools': 'one__echo',
  '/tools?tool=one__echo': 'Missing: text',
  '/tools?tool=one__echo&tab=takes': 'required',
  '/approvals': 'shy',
  '/clients': 'Names and versions',
  '/activity': 'Export CSV',
  '/access': 'one__echo',
};

describe.each([{ width: 1280 }, { width: 390 }])('dashboard at a width of $width', ({ width }) => {
  test('accessibility: has no serious problem on any page in light and dark mode', async () => {
    await using dashboard = await openDashboard({
      mcpServers: {
        one: fixture('plain'),
        shy: { ...fixture('hidden-characters'), trust: 'manual' },
        broken: { command: 'no-such-command-anywhere' },
      },
      config: { startup: { listWait: '60s' }, profiles: { some: { servers: ['one'] } } },
      width,
    });
    const { gateway, page } = dashboard;
    const client = await gateway.client();
    await waitForTool(client, 'one__echo');
    await client.callTool('one__echo', { text: 'a' });
    await client.close();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const [path, sign] of Object.entries(pages)) {
        await dashboard.goto(path);
        await page.locator('main').getByText(sign).first().waitFor();
        expect(await seriousProblems(page), `${path} in ${colorScheme}`).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), path).toBe(
          true,
        );
      }
    }
    expect(dashboard.complaints).toEqual([]);
  });
});
