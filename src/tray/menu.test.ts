import { describe, expect, test } from 'vitest';

import type { AdminHeld } from '../admin/contract/contract.ts';
import { facts, server, status, waitingCall } from './facts.test-support.ts';
import { menuOf } from './menu.ts';
import type { MenuItem } from './menu.ts';
import { headline, lookOf } from './state.ts';
import type { GatewayFacts } from './state.ts';

function lines(items: readonly MenuItem[], depth = 0): readonly string[] {
  return items.flatMap((item) => {
    const mark = item.isChecked === undefined ? '' : item.isChecked ? '[x] ' : '[ ] ';
    const text = item.label === '' ? '---' : `${mark}${item.label}`;
    return [`${'  '.repeat(depth)}${text}`, ...lines(item.items ?? [], depth + 1)];
  });
}

function item(gateway: GatewayFacts, label: string | RegExp): MenuItem | undefined {
  const all = (items: readonly MenuItem[]): readonly MenuItem[] =>
    items.flatMap((each) => [each, ...all(each.items ?? [])]);
  return all(menuOf({ gateway })).find((each) =>
    typeof label === 'string' ? each.label === label : label.test(each.label),
  );
}

function held(named: string, kind: AdminHeld['kind'], name = ''): AdminHeld {
  return {
    ...{ server: named, kind, name, fingerprint: 'f', reason: 'new', offered: {}, changes: [] },
    findings: [],
  };
}

describe('the menu', () => {
  test('of a gateway where all is well', () => {
    const gateway = facts({
      status: status({ servers: [server('one'), server('two', { enabled: false, state: 'disabled' })] }),
    });
    expect(lines(menuOf({ gateway }))).toEqual([
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
      'Quit this icon',
    ]);
  });

  test('without a gateway still edits and quits', () => {
    const menu = menuOf({ gateway: undefined, notice: 'No editor can be started here.' });
    expect(lines(menu)).toEqual([
      'Trunkline: no gateway is running',
      'It starts with the first client, or with: trunkline serve --http',
      'No editor can be started here.',
      '---',
      'Edit configuration…',
      'Quit this icon',
    ]);
  });

  test('begins with what needs a person, the most urgent first', () => {
    const gateway = facts({
      status: status({
        held: { servers: 1, entries: 4, calls: 1 },
        servers: [
          server('mail', { state: 'needs-auth' }),
          server('bad', {
            state: 'failed',
            problem: { code: 'UPSTREAM_REFUSED', message: 'Server "bad" cannot be started.' },
          }),
          server('late', {
            state: 'waiting',
            problem: { code: 'UPSTREAM_UNAVAILABLE', message: 'No.' },
          }),
          server('fresh', {
            state: 'held',
            problem: { code: 'QUARANTINED', message: 'Server "fresh" was not started.' },
          }),
        ],
      }),
      approvals: {
        held: [held('fresh', 'server'), held('git', 'tool', 'a'), held('git', 'prompt', 'b')],
        calls: [waitingCall({ path: '/tmp/x' })],
      },
    });
    expect(lines(menuOf({ gateway })).slice(0, 13)).toEqual([
      'Trunkline: 6 things need you (4 servers, 6 tools)',
      'Today: 5 calls, 1 error',
      '---',
      'ada waits to call files: delete',
      '  {"path":"/tmp/x"}',
      '  Allow this call',
      '  Look at it in the dashboard…',
      '  Refuse it',
      'Approve the new server fresh…',
      'Review 2 changes of git…',
      '2 more to approve…',
      'Sign in to mail…',
      'Mend bad: cannot be started.',
    ]);
    expect(item(gateway, /^Mend bad/)?.action).toEqual({ do: 'open', page: '/servers?server=bad' });
    expect(item(gateway, 'late: cannot be reached, will be tried again')).toBeDefined();
    expect(item(gateway, 'fresh: waits for your approval')).toBeDefined();
  });

  test('leads to the place of a mistake in the configuration', () => {
    const message = '/home/me/.config/trunkline/config.jsonc:3:7: Comma expected.';
    const configProblem = { code: 'CONFIG_INVALID', file: '/c', line: 3, column: 7, message } as const;
    const gateway = facts({ status: status({ configProblem }) });
    expect(item(gateway, 'Mend the configuration, line 3: Comma expected.')?.action).toEqual({ do: 'edit' });
    expect(lookOf({ gateway })).toBe('attention');
  });

  test('lets nobody agree to arguments that it cannot show', () => {
    const long = facts({ approvals: { held: [], calls: [waitingCall({ text: 'x'.repeat(500) })] } });
    const hidden = facts({ approvals: { held: [], calls: [waitingCall({ text: 'a\u202eb' })] } });
    const short = facts({ approvals: { held: [], calls: [waitingCall({})] } });
    expect(item(long, 'Allow this call')).toBeUndefined();
    expect(item(hidden, 'Allow this call')).toBeUndefined();
    expect(item(long, 'Refuse it')?.action).toEqual({ do: 'decide', call: 'c1', decision: 'refuse' });
    expect(item(short, 'Allow this call')?.action).toEqual({ do: 'decide', call: 'c1', decision: 'accept' });
  });

  test('switches servers to the other state', () => {
    const gateway = facts({
      status: status({ servers: [server('a'), server('b', { enabled: false, state: 'disabled' })] }),
    });
    expect(item(gateway, /^a: /)?.action).toEqual({ do: 'switch', server: 'a', isOn: false });
    expect(item(gateway, /^b: /)?.action).toEqual({ do: 'switch', server: 'b', isOn: true });
  });

  test('has bounds, and leads to the dashboard for the rest', () => {
    const many = Array.from({ length: 100 }, (_, at) => server(`s${at}`, { state: 'needs-auth' }));
    const gateway = facts({ status: status({ servers: many }) });
    expect(lines(menuOf({ gateway })).length).toBeLessThan(70);
    expect(item(gateway, '90 more…')?.action).toEqual({ do: 'open', page: '/approvals' });
    expect(item(gateway, '60 more…')?.action).toEqual({ do: 'open', page: '/servers' });
  });

  test('keeps the key of a thing whose label changes', () => {
    const keyOf = (tools: number): string | undefined =>
      item(facts({ status: status({ servers: [server('a', { tools })] }) }), /^a: /)?.key;
    expect(keyOf(1)).toBe(keyOf(2));
  });

  test('of a paused gateway resumes it', () => {
    const gateway = facts({ status: status({ pausedSince: 1 }) });
    expect(item(gateway, 'Pause serving')).toBeUndefined();
    expect(item(gateway, 'Resume serving')?.action).toEqual({ do: 'resume' });
    expect(item(facts(), 'Pause serving')?.action).toEqual({ do: 'pause' });
  });

  test('says nothing of numbers that are not recorded', () => {
    const { today: _, ...rest } = facts();
    expect(item(rest, /^Today/)).toBeUndefined();
  });
});

describe('the icon', () => {
  test.each([
    ['away', undefined, 'Trunkline: no gateway is running'],
    ['well', facts(), 'Trunkline: all is well (2 servers, 6 tools)'],
    [
      'paused',
      facts({ status: status({ pausedSince: 1, servers: [server('a', { state: 'needs-auth' })] }) }),
      'Trunkline is paused: calls are refused (1 server, 6 tools)',
    ],
    [
      'attention',
      facts({ status: status({ held: { servers: 0, entries: 1, calls: 0 } }) }),
      'Trunkline: 1 thing needs you (2 servers, 6 tools)',
    ],
  ] as const)('looks %s and says so', (look, gateway, words) => {
    expect(lookOf({ gateway })).toBe(look);
    expect(headline({ gateway })).toBe(words);
  });

  test('does not alarm for what mends itself, nor for what is off', () => {
    const servers = [
      server('a', { state: 'waiting', problem: { code: 'UPSTREAM_UNAVAILABLE', message: 'No.' } }),
      server('b', { state: 'disabled', enabled: false }),
    ];
    expect(lookOf({ gateway: facts({ status: status({ servers }) }) })).toBe('well');
  });
});
