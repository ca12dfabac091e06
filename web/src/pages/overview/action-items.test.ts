import { expect, test } from 'vitest';

import type { AdminHeldItem, AdminServer, AdminStatus } from '../../../../src/admin/contract/contract.ts';
import { listActionItems } from './action-items.ts';

const held = { kind: 'tool', fingerprint: '', offered: {}, changes: [], findings: [] } as const;

test('overview: lists held calls first, then problems, each with its action', () => {
  const items = listActionItems({
    status: statusWith(
      server('a', 'ready'),
      server('b', 'waiting'),
      server('c', 'failed'),
      server('d', 'needs-auth'),
    ),
    config: {
      needsRestart: [],
      problem: {
        code: 'CONFIG_INVALID',
        file: '/c.jsonc',
        line: 3,
        column: 7,
        message: '/c.jsonc:3:7: A comma is missing.',
      },
    },
    approvals: {
      held: [
        { ...held, server: 'e', name: 'x', reason: 'changed' },
        { ...held, server: 'e', name: 'y', reason: 'new' },
        { ...held, server: 'e', name: 'z', reason: 'refused' },
      ] satisfies AdminHeldItem[],
      calls: [
        {
          id: '1',
          caller: 'me',
          profile: '',
          server: 'a',
          name: 'a_x',
          arguments: {},
          rule: 'ask',
          since: 0,
          until: 1,
          isOpen: true,
        },
      ],
    },
  });
  expect(items.map(({ title, action }) => [title, action.kind])).toEqual([
    ['me wants to call a_x', 'review'],
    ['The configuration file has an error; the previous configuration stays active', 'copy'],
    ['2 entries of e are held for approval', 'review'],
    ['d needs a sign-in', 'sign-in'],
    ['c failed', 'restart'],
    ['b is unreachable', 'try'],
  ]);
  expect(items[2]?.text).toBe('1 changed since you approved it, 1 new. Clients cannot see them.');
  expect(items[1]?.action).toEqual({ kind: 'copy', text: '/c.jsonc:3:7' });
});

test('overview: names variables of which a connected client has another value', () => {
  const differingVariables = [{ name: 'TOKEN', canBeSecret: true }];
  const status = { ...statusWith(server('a', 'ready')), kind: 'background', differingVariables } as const;
  expect(listActionItems({ status, config: undefined, approvals: undefined })).toEqual([
    {
      id: 'variables',
      title: 'A connected client has other values of TOKEN',
      text: 'The gateway keeps using its own. To use others, run trunkline restart in a shell that has them.',
      kind: 'warn',
      action: { kind: 'copy', text: 'trunkline restart' },
    },
  ]);
});

test('overview: offers to resume a paused gateway', () => {
  const [item] = listActionItems({
    status: { ...statusWith(), pausedSince: 1 },
    config: undefined,
    approvals: undefined,
  });
  expect(item).toMatchObject({ title: 'All calls are paused', action: { kind: 'resume' } });
});

test('overview: reports a configuration warning and copies its file position', () => {
  const position = '/c.jsonc:4:7';
  const warnings = [`${position}: server "git": "comand" is not a known key`, 'A warning without position.'];
  const items = listActionItems({
    status: { ...statusWith(), warnings },
    config: undefined,
    approvals: undefined,
  });
  expect(items).toMatchObject([
    { text: warnings[0], kind: 'warn', action: { kind: 'copy', text: position } },
    { text: warnings[1], kind: 'warn', action: { kind: 'copy', text: warnings[1] } },
  ]);
});

test('overview: is empty when all servers work or are disabled', () => {
  const status = statusWith(server('a', 'ready'), server('b', 'idle'), server('c', 'disabled'));
  expect(listActionItems({ status, config: undefined, approvals: undefined })).toEqual([]);
});

test.each(['connecting', 'installing'])(
  'overview: reports a retrying server as unreachable while %s',
  (state) => {
    const problem = { code: 'UPSTREAM_UNAVAILABLE', message: 'no answer', attempts: 2 } as const;
    const retrying = { ...server('b', state), problem };
    const status = statusWith(server('a', state), retrying);
    const items = listActionItems({ status, config: undefined, approvals: undefined });
    expect(items.map(({ title }) => title)).toEqual(['b is unreachable after 2 attempts']);
  },
);

function server(name: string, state: string): AdminServer {
  return { name, state, enabled: true, tools: 0, prompts: 0, resources: 0, inFlight: 0 };
}

function statusWith(...servers: readonly AdminServer[]): AdminStatus {
  return {
    version: '',
    pid: 1,
    since: 0,
    kind: 'http',
    config: '',
    clients: 0,
    warnings: [],
    tools: 0,
    held: { servers: 0, entries: 0, calls: 0 },
    servers,
  };
}
