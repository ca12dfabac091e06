import { expect, test } from 'vitest';

import type { AdminHeld, AdminServer, AdminStatus } from '../../../../src/admin/contract/contract.ts';
import { needsOf } from './needs.ts';

const held = { kind: 'tool', fingerprint: '', offered: {}, changes: [], findings: [] } as const;

test('calls that wait come first, then what nobody can use, each with what mends it', () => {
  const needs = needsOf({
    status: statusWith(
      server('a', 'ready'),
      server('b', 'waiting'),
      server('c', 'failed'),
      server('d', 'needs-auth'),
    ),
    config: {
      needsRestart: [],
      problem: {
        ...{ code: 'CONFIG_INVALID', file: '/c.jsonc', line: 3, column: 7 },
        message: '/c.jsonc:3:7: A comma is missing.',
      },
    },
    approvals: {
      held: [
        { ...held, server: 'e', name: 'x', reason: 'changed' },
        { ...held, server: 'e', name: 'y', reason: 'new' },
        { ...held, server: 'e', name: 'z', reason: 'refused' },
      ] satisfies AdminHeld[],
      calls: [
        {
          ...{ id: '1', caller: 'me', profile: '', server: 'a', name: 'a_x', arguments: {}, rule: 'ask' },
          ...{ since: 0, until: 1, isOpen: true },
        },
      ],
    },
  });
  expect(needs.map(({ title, act }) => [title, act.do])).toEqual([
    ['me waits to call a_x', 'review'],
    ['The configuration has a mistake; what ran before still runs', 'copy'],
    ['2 entries of e are held', 'review'],
    ['d needs you to sign in', 'sign-in'],
    ['c does not work', 'restart'],
    ['b is not reached', 'try'],
  ]);
  expect(needs[2]?.text).toBe('1 changed since you approved it, 1 new. Clients do not see them meanwhile.');
  expect(needs[1]?.act).toEqual({ do: 'copy', text: '/c.jsonc:3:7' });
});

test('a pause is ended from here', () => {
  const [need] = needsOf({
    status: { ...statusWith(), pausedSince: 1 },
    config: undefined,
    approvals: undefined,
  });
  expect(need).toMatchObject({ title: 'All calls are paused', act: { do: 'resume' } });
});

test('an entry with a mistake is told with its place', () => {
  const file = '/c.jsonc:4:7';
  const warnings = [`${file}: server "git" is left out: "comand" is not a known key`, 'Something odd.'];
  const needs = needsOf({
    status: { ...statusWith(), warnings },
    config: undefined,
    approvals: undefined,
  });
  expect(needs).toMatchObject([
    {
      ...{
        title: 'git is left out because of a mistake in the configuration',
        text: `${file}: "comand" is not a known key`,
      },
      ...{ kind: 'bad', act: { do: 'copy', text: file } },
    },
    { text: 'Something odd.', kind: 'warn', act: { text: 'Something odd.' } },
  ]);
});

test('nothing is needed where everything works or was switched off', () => {
  const status = statusWith(server('a', 'ready'), server('b', 'idle'), server('c', 'disabled'));
  expect(needsOf({ status, config: undefined, approvals: undefined })).toEqual([]);
});

function server(name: string, state: string): AdminServer {
  return { name, state, enabled: true, tools: 0, prompts: 0, resources: 0, inFlight: 0 };
}

function statusWith(...servers: readonly AdminServer[]): AdminStatus {
  return {
    ...{ version: '', pid: 1, since: 0, kind: 'http', config: '', clients: 0, warnings: [], tools: 0 },
    ...{ held: { servers: 0, entries: 0, calls: 0 }, servers },
  };
}

test('a server that is tried again is not reached until it is', () => {
  const problem = { code: 'UPSTREAM_UNAVAILABLE', message: 'no answer', attempts: 2 } as const;
  const again = { ...server('b', 'connecting'), problem };
  const status = statusWith(server('a', 'connecting'), again);
  expect(needsOf({ status, config: undefined, approvals: undefined }).map(({ title }) => title)).toEqual([
    'b is not reached after 2 attempts',
  ]);
});
