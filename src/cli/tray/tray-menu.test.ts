import { describe, expect, test } from 'vitest';

import type { AdminHeldItem } from '../../admin/contract/contract.ts';
import {
  createSnapshot,
  createServer,
  createStatus,
  createHeldCall,
} from './gateway-snapshot.test-support.ts';
import { buildMenu } from './tray-menu.ts';
import type { MenuItem } from './tray-menu.ts';
import { formatHeadline, selectIconState } from './tray-state.ts';
import type { GatewaySnapshot } from './tray-state.ts';

function toLines(items: readonly MenuItem[], depth = 0): readonly string[] {
  return items.flatMap((item) => {
    const mark = item.isChecked === undefined ? '' : item.isChecked ? '[x] ' : '[ ] ';
    const text = item.label === '' ? '---' : `${mark}${item.label}`;
    return [`${'  '.repeat(depth)}${text}`, ...toLines(item.items ?? [], depth + 1)];
  });
}

function findItem(gateway: GatewaySnapshot, label: string | RegExp): MenuItem | undefined {
  const flatten = (items: readonly MenuItem[]): readonly MenuItem[] =>
    items.flatMap((entry) => [entry, ...flatten(entry.items ?? [])]);
  return flatten(buildMenu({ gateway })).find((item) =>
    typeof label === 'string' ? item.label === label : label.test(item.label),
  );
}

function createHeldEntry(serverName: string, kind: AdminHeldItem['kind'], name = ''): AdminHeldItem {
  return {
    server: serverName,
    kind,
    name,
    fingerprint: 'f',
    reason: 'new',
    offered: {},
    changes: [],
    findings: [],
  };
}

describe('tray menu', () => {
  test('tray menu: lists status, servers and commands of a healthy gateway', () => {
    const gateway = createSnapshot({
      status: createStatus({
        servers: [createServer('one'), createServer('two', { enabled: false, state: 'disabled' })],
      }),
    });
    expect(toLines(buildMenu({ gateway }))).toEqual([
      'Trunkline: all is well (1 server, 6 tools)',
      'Today: 5 calls, 1 error',
      '---',
      'Servers (1 of 2 on)',
      '  [x] one: ready, 3 tools',
      '  [ ] two: off',
      'Add a server…',
      '---',
      'Open dashboard',
      'Edit configuration…',
      'Re-index all tools',
      'Pause serving',
      '---',
      'Quit the tray icon',
    ]);
  });

  test('tray menu: offers only editing and quitting without a gateway', () => {
    const menu = buildMenu({ gateway: undefined, notice: 'No editor can be started here.' });
    expect(toLines(menu)).toEqual([
      'Trunkline: no gateway is running',
      'It starts with the first client, or with: trunkline serve --http',
      'No editor can be started here.',
      '---',
      'Edit configuration…',
      'Quit the tray icon',
    ]);
  });

  test('tray menu: puts items that need attention first, most urgent on top', () => {
    const gateway = createSnapshot({
      status: createStatus({
        held: { servers: 1, entries: 4, calls: 1 },
        servers: [
          createServer('mail', { state: 'needs-auth' }),
          createServer('bad', {
            state: 'failed',
            problem: { code: 'UPSTREAM_REFUSED', message: 'Server "bad" cannot be started.' },
          }),
          createServer('late', {
            state: 'waiting',
            problem: { code: 'UPSTREAM_UNAVAILABLE', message: 'No.' },
          }),
          createServer('fresh', {
            state: 'held',
            problem: { code: 'QUARANTINED', message: 'Server "fresh" was not started.' },
          }),
        ],
      }),
      approvals: {
        held: [
          createHeldEntry('fresh', 'server'),
          createHeldEntry('git', 'tool', 'a'),
          createHeldEntry('git', 'prompt', 'b'),
        ],
        calls: [createHeldCall({ path: '/tmp/x' })],
      },
    });
    expect(toLines(buildMenu({ gateway })).slice(0, 13)).toEqual([
      'Trunkline: 6 items need your attention (4 servers, 6 tools)',
      'Today: 5 calls, 1 error',
      '---',
      'ada waits to call files: delete',
      '  {"path":"/tmp/x"}',
      '  Allow this call',
      '  View it in the dashboard…',
      '  Refuse it',
      'Approve the new server fresh…',
      'Review 2 changes of git…',
      '2 more to approve…',
      'Sign in to mail…',
      'Fix bad: cannot be started.',
    ]);
    expect(findItem(gateway, /^Fix bad/)?.action).toEqual({
      type: 'open-dashboard',
      page: '/servers?server=bad',
    });
    expect(findItem(gateway, 'late: unreachable, will be retried')).toBeDefined();
    expect(findItem(gateway, 'fresh: held for your approval')).toBeDefined();
  });

  test('tray menu: points to the line of a configuration error', () => {
    const message = '/home/me/.config/trunkline/config.jsonc:3:7: Comma expected.';
    const configProblem = { code: 'CONFIG_INVALID', file: '/c', line: 3, column: 7, message } as const;
    const gateway = createSnapshot({ status: createStatus({ configProblem }) });
    expect(findItem(gateway, 'Fix the configuration, line 3: Comma expected.')?.action).toEqual({
      type: 'edit-config',
    });
    expect(selectIconState({ gateway })).toBe('attention');
  });

  test('tray menu: does not allow a call whose arguments it cannot show in full', () => {
    const long = createSnapshot({
      approvals: { held: [], calls: [createHeldCall({ text: 'x'.repeat(500) })] },
    });
    const hidden = createSnapshot({ approvals: { held: [], calls: [createHeldCall({ text: 'a\u202eb' })] } });
    const short = createSnapshot({ approvals: { held: [], calls: [createHeldCall({})] } });
    expect(findItem(long, 'Allow this call')).toBeUndefined();
    expect(findItem(hidden, 'Allow this call')).toBeUndefined();
    expect(findItem(long, 'Refuse it')?.action).toEqual({
      type: 'decide-call',
      call: 'c1',
      decision: 'refuse',
    });
    expect(findItem(short, 'Allow this call')?.action).toEqual({
      type: 'decide-call',
      call: 'c1',
      decision: 'accept',
    });
  });

  test('tray menu: toggles servers on and off', () => {
    const gateway = createSnapshot({
      status: createStatus({
        servers: [createServer('a'), createServer('b', { enabled: false, state: 'disabled' })],
      }),
    });
    expect(findItem(gateway, /^a: /)?.action).toEqual({ type: 'set-enabled', server: 'a', isEnabled: false });
    expect(findItem(gateway, /^b: /)?.action).toEqual({ type: 'set-enabled', server: 'b', isEnabled: true });
  });

  test('tray menu: limits its length and links to the dashboard for the rest', () => {
    const many = Array.from({ length: 100 }, (_, at) => createServer(`s${at}`, { state: 'needs-auth' }));
    const gateway = createSnapshot({ status: createStatus({ servers: many }) });
    expect(toLines(buildMenu({ gateway })).length).toBeLessThan(70);
    expect(findItem(gateway, '90 more…')?.action).toEqual({ type: 'open-dashboard', page: '/approvals' });
    expect(findItem(gateway, '60 more…')?.action).toEqual({ type: 'open-dashboard', page: '/servers' });
  });

  test('tray menu: keeps the key of an item whose label changes', () => {
    const keyOf = (tools: number): string | undefined =>
      findItem(createSnapshot({ status: createStatus({ servers: [createServer('a', { tools })] }) }), /^a: /)
        ?.key;
    expect(keyOf(1)).toBe(keyOf(2));
  });

  test('tray menu: offers to resume a paused gateway', () => {
    const gateway = createSnapshot({ status: createStatus({ pausedSince: 1 }) });
    expect(findItem(gateway, 'Pause serving')).toBeUndefined();
    expect(findItem(gateway, 'Resume serving')?.action).toEqual({ type: 'resume' });
    expect(findItem(createSnapshot(), 'Pause serving')?.action).toEqual({ type: 'pause' });
  });

  test("tray menu: omits today's numbers when they are not recorded", () => {
    const { today: _, ...rest } = createSnapshot();
    expect(findItem(rest, /^Today/)).toBeUndefined();
  });
});

describe('tray status', () => {
  test.each([
    ['offline', undefined, 'Trunkline: no gateway is running'],
    ['healthy', createSnapshot(), 'Trunkline: all is well (2 servers, 6 tools)'],
    [
      'paused',
      createSnapshot({
        status: createStatus({ pausedSince: 1, servers: [createServer('a', { state: 'needs-auth' })] }),
      }),
      'Trunkline is paused: calls are refused (1 server, 6 tools)',
    ],
    [
      'attention',
      createSnapshot({ status: createStatus({ held: { servers: 0, entries: 1, calls: 0 } }) }),
      'Trunkline: 1 item needs your attention (2 servers, 6 tools)',
    ],
  ] as const)('tray status: shows %s with its headline', (state, gateway, headline) => {
    expect(selectIconState({ gateway })).toBe(state);
    expect(formatHeadline({ gateway })).toBe(headline);
  });

  test('tray status: stays calm about servers that retry or are disabled', () => {
    const servers = [
      createServer('a', { state: 'waiting', problem: { code: 'UPSTREAM_UNAVAILABLE', message: 'No.' } }),
      createServer('b', { state: 'disabled', enabled: false }),
    ];
    expect(selectIconState({ gateway: createSnapshot({ status: createStatus({ servers }) }) })).toBe(
      'healthy',
    );
  });
});
