import { describe, expect, test } from 'vitest';

import { memoryView } from '../../test/support/memory-view.ts';
import { upstreamConfig } from '../../test/support/upstream-config.ts';
import type { UpstreamName } from '../core/ids.ts';
import { createTierLookup, explainTierConflict, inferTier } from './tool-tiers.ts';

describe('tier from annotations', () => {
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
  ])('tier: annotations %j on a tool named get_thing give %s', (annotations, tier) => {
    expect(inferTier({ name: 'get_thing', annotations })).toBe(tier);
  });

  test('tier: destructiveHint false wins over a destructive name', () => {
    expect(inferTier({ name: 'send_mail', annotations: { destructiveHint: false } })).toBe('write');
  });

  test('tier: readOnlyHint false leaves a destructive name destructive', () => {
    expect(inferTier({ name: 'delete_thing', annotations: { readOnlyHint: false } })).toBe('destructive');
  });
});

describe('conflict of name and annotations', () => {
  const readOnly = { readOnlyHint: true };
  const additive = { readOnlyHint: false, destructiveHint: false };

  test.each([
    ['delete_all_repositories', readOnly, 'destructive'],
    ['deleteAllRepositories', { readOnlyHint: true, destructiveHint: false }, 'destructive'],
    ['github_delete_repository', readOnly, 'destructive'],
    ['send-email', readOnly, 'destructive'],
    ['execute_command', readOnly, 'destructive'],
    ['drop_table', readOnly, 'destructive'],
    ['monitor_delete', readOnly, 'destructive'],
    ['get_and_delete_message', readOnly, 'destructive'],
    ['deletes-everything', readOnly, 'destructive'],
    ['create_issue', readOnly, 'write'],
    ['linear_updateIssue', readOnly, 'write'],
    ['delete_all_repositories', additive, 'destructive'],
    ['wipeDisk', additive, 'destructive'],
  ])('tier: name %s with annotations %j gives the higher tier %s', (name, annotations, tier) => {
    expect(inferTier({ name, annotations })).toBe(tier);
  });

  test.each([
    'list_deleted_items',
    'get_delete_policy',
    'check_delete_permission',
    'merge_requests_list',
    'get_merge_request',
    'queryCloudRun',
    'generate_area_chart',
    'open_nodes',
    'run_query',
    'deployPlan',
    'message_history',
    'add',
  ])('tier: readOnlyHint on a tool named %s is believed', (name) => {
    expect(inferTier({ name, annotations: readOnly })).toBe('read');
  });

  test('tier: destructiveHint false is believed for removing an association', () => {
    expect(inferTier({ name: 'linear_removeIssueLabel', annotations: additive })).toBe('write');
  });
});

describe('tier from name and description', () => {
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
    ['read_list', 'Reads a list. Set it with another tool.', 'read'],
    ['list_commits', 'List commits of a branch.', 'read'],
    ['get_card_comments', 'Retrieve all comments of a card.', 'read'],
    ['list-emails', '**Purpose:** List sent emails.', 'read'],
    ['tracker_getUpdates', 'Get updates of a project.', 'read'],
    ['browser_console_messages', 'Returns all console messages.', 'read'],
    ['message_list', 'Lists the messages of a channel.', 'read'],
    ['find', 'Run a find query.', 'read'],
    ['query', 'Run a read-only SQL query.', 'read'],
    ['query', 'Run a SQL query.', 'destructive'],
    ['query', undefined, 'write'],
    ['copy_list', 'Copies a list.', 'write'],
    ['clear_search', 'Clears the search.', 'destructive'],
    ['monitor_update', 'Update a monitor.', 'write'],
    ['monitor_delete', undefined, 'destructive'],
    ['search_and_replace', undefined, 'write'],
    ['get_and_delete_message', undefined, 'destructive'],
    ['get_message', 'Reads a message and deletes it.', 'destructive'],
    ['get_message', 'Deletes a message.', 'destructive'],
    ['enable_email_address', undefined, 'write'],
    ['maps_elevation', 'Get the elevation of a place.', 'read'],
    ['report', 'Use this tool to delete reports.', 'destructive'],
    ['create_issue', 'Creates an issue.', 'write'],
    ['deleteIssue', undefined, 'destructive'],
    ['removing', 'x', 'destructive'],
    ['send-message', 'Get in touch.', 'destructive'],
    ['pay_invoice', undefined, 'destructive'],
    ['run_query', 'Reads data.', 'destructive'],
    ['tool', 'Executes a command.', 'destructive'],
    ['查询天气', '查询当前天气', 'write'],
  ])('tier: name %j with description %j gives %s', (name, description, tier) => {
    expect(inferTier({ name, ...(description !== undefined && { description }) })).toBe(tier);
  });

  test('tier: handles a huge or invalid description', () => {
    expect(inferTier({ name: 'get_x', description: 'delete '.repeat(1_000_000) })).toBe('destructive');
    expect(inferTier({ name: 'get_x', description: { text: 'delete' } })).toBe('read');
  });
});

describe('configured tiers', () => {
  const [entry] = memoryView(['delete_note']).tools;

  test('tier conflict: is explained unless the operator configured the tier', () => {
    if (entry === undefined) throw new Error('There is no tool.');
    const lying = { ...entry, definition: { ...entry.definition, annotations: { readOnlyHint: true } } };
    const upstream = (tiers: Readonly<Record<string, 'read'>>) => [
      upstreamConfig({ name: 'files' as UpstreamName, tools: { allow: [], deny: [], tiers } }),
    ];
    expect(explainTierConflict(upstream({}), lying)).toBe(
      'Its tier is destructive because its name contains the verb "delete", although the server declares it read-only. If the server is right, set "delete_note" to "read" in mcpServers.files.tools.tiers.',
    );
    expect(explainTierConflict(upstream({ 'delete_*': 'read' }), lying)).toBeUndefined();
    expect(createTierLookup(upstream({ 'delete_*': 'read' }))(lying)).toBe('read');
    expect(explainTierConflict(upstream({}), entry)).toBeUndefined();
  });

  test("configured tier: wins by the first glob that matches the server's own tool name", () => {
    if (entry === undefined) throw new Error('There is no tool.');
    const files = (globs: Readonly<Record<string, 'read' | 'write' | 'destructive'>>) =>
      createTierLookup([
        upstreamConfig({ name: 'files' as UpstreamName, tools: { allow: [], deny: [], tiers: globs } }),
      ]);
    expect(files({})(entry)).toBe('destructive');
    expect(files({ 'get_*': 'write', '*_note': 'read', '*': 'write' })(entry)).toBe('read');
    expect(files({ 'files__*': 'read' })(entry)).toBe('destructive');
    expect(createTierLookup([])(entry)).toBe('destructive');
  });
});
