import { describe, expect, test } from 'vitest';

import { memoryView } from '../../test/support/memory-view.ts';
import { upstreamConfig } from '../../test/support/upstream-config.ts';
import type { UpstreamName } from '../model/ids.ts';
import { tierOf, tiers } from './tiers.ts';

describe('what a server says of its tool', () => {
  test.each([
    [{ readOnlyHint: true }, 'read'],
    [{ readOnlyHint: true, destructiveHint: false }, 'read'],
    [{ readOnlyHint: true, destructiveHint: true }, 'destructive'],
    [{ destructiveHint: true }, 'destructive'],
    [{ readOnlyHint: false, destructiveHint: false }, 'write'],
    [{ readOnlyHint: false }, 'write'],
    [{ readOnlyHint: 'yes' }, 'read'],
    [{ title: 'Only a title' }, 'read'],
    ['nonsense', 'read'],
  ])('%j makes a tool with a reading name %s', (annotations, tier) => {
    expect(tierOf({ name: 'get_thing', annotations })).toBe(tier);
  });

  test('that it only adds something wins over a name that sounds like more', () => {
    expect(tierOf({ name: 'send_mail', annotations: { destructiveHint: false } })).toBe('write');
  });

  test('that it does not only read leaves it to the words whether it destroys', () => {
    expect(tierOf({ name: 'delete_thing', annotations: { readOnlyHint: false } })).toBe('destructive');
  });
});

describe('what words suggest about a tool', () => {
  test.each([
    ['get_issue', 'Gets an issue by its number.', 'read'],
    ['listRepositories', 'Lists repositories that were created or deleted lately.', 'read'],
    ['searchCode', undefined, 'read'],
    ['weather', 'Returns the weather of a city.', 'read'],
    ['weather', 'Weather of a city.', 'write'],
    ['frobnicate', undefined, 'write'],
    ['', '', 'write'],
    ['get_or_create_user', 'Gets a user.', 'write'],
    ['get_token', 'Gets a token and updates its date.', 'write'],
    ['read_list', 'Reads a list. Set it with another tool.', 'write'],
    ['create_issue', 'Creates an issue.', 'write'],
    ['deleteIssue', undefined, 'destructive'],
    ['removing', 'x', 'destructive'],
    ['send-message', 'Get in touch.', 'destructive'],
    ['pay_invoice', undefined, 'destructive'],
    ['run_query', 'Reads data.', 'destructive'],
    ['tool', 'Executes a command.', 'destructive'],
    ['query', 'Run a read-only SQL query.', 'destructive'],
    ['查询天气', '查询当前天气', 'write'],
  ])('%j, %j: %s', (name, description, tier) => {
    expect(tierOf({ name, ...(description !== undefined && { description }) })).toBe(tier);
  });

  test('is found soon in a description that has no end, or that is none', () => {
    expect(tierOf({ name: 'get_x', description: 'delete '.repeat(1_000_000) })).toBe('destructive');
    expect(tierOf({ name: 'get_x', description: { text: 'delete' } })).toBe('read');
  });
});

describe('the configuration', () => {
  const [entry] = memoryView(['delete_note']).tools;

  test('wins over both, by the first glob that matches the name that the server gave', () => {
    if (entry === undefined) throw new Error('There is no tool.');
    const files = (globs: Readonly<Record<string, 'read' | 'write' | 'destructive'>>) =>
      tiers([
        upstreamConfig({ name: 'files' as UpstreamName, tools: { allow: [], deny: [], tiers: globs } }),
      ]);
    expect(files({})(entry)).toBe('destructive');
    expect(files({ 'get_*': 'write', '*_note': 'read', '*': 'write' })(entry)).toBe('read');
    expect(files({ 'files__*': 'read' })(entry)).toBe('destructive');
    expect(tiers([])(entry)).toBe('destructive');
  });
});
