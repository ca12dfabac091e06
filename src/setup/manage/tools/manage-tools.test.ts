import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../../../core/json.ts';
import { createPolicy } from '../../../policy/caller-policy.ts';
import { inferTier } from '../../../policy/tool-tiers.ts';
import type { ChangeAuthor } from '../change-author.ts';
import { CONFIG_TEXT, useConfigFile, model } from '../config-file.test-support.ts';
import { handleManageServers } from './handle-manage-servers.ts';
import { createManageServersEntry, createToolStatsEntry } from './tool-definitions.ts';
import { formatToolStats } from './format-tool-stats.ts';

const configFile = useConfigFile();

function manage(
  args: JsonObject,
  canSee: (name: string) => boolean = () => true,
  rights: Partial<Pick<ChangeAuthor, 'canSeeNew' | 'mayCollideWithHidden'>> = {},
) {
  const nothing = (): Promise<void> => Promise.resolve();
  const lines = [{ at: 0, from: 'stderr' as const, text: 'x'.repeat(3000) }];
  return handleManageServers(
    args,
    { ...model, canSee, ...rights },
    {
      editor: configFile.editor(),
      states: () => [{ name: 'one', state: 'ready', tools: 3 }],
      restart: nothing,
      refresh: nothing,
      canSee,
      log: (_, count) => ({
        lines: Array.from({ length: count }, () => lines).flat(),
        hasMore: false,
        next: 0,
      }),
    },
  );
}

async function answer(...args: Parameters<typeof manage>) {
  return (await manage(...args)).value as {
    readonly isError?: boolean;
    readonly content: readonly { readonly text: string }[];
    readonly structuredContent: JsonObject;
  };
}

test('management tools: manage_servers needs the destructive tier, tool_stats only read', () => {
  const policy = createPolicy({
    policy: { default: 'allow', rules: [] },
    profiles: {},
    tagsOf: () => [],
    tierOf: ({ definition }) => inferTier(definition),
  });
  const verdicts = (tier: 'read' | 'write' | 'destructive'): readonly string[] => {
    const { decide } = policy.for({ id: 'x', via: 'http', profile: 'default', tier });
    return [createManageServersEntry(), createToolStatsEntry()].map((entry) => decide(entry).verdict);
  };
  expect(verdicts('read')).toEqual(['hide', 'allow']);
  expect(verdicts('write')).toEqual(['hide', 'allow']);
  expect(verdicts('destructive')).toEqual(['allow', 'allow']);
});

describe('manage_servers', () => {
  test('manage_servers: accepts a server entry in every form that models use', async () => {
    for (const args of [
      { name: 'a', server: { command: 'x' } },
      { name: 'b', server: '{"command": "x"}' },
      { name: 'c', command: 'x', args: ['y'] },
      { servers: { d: { command: 'x' } } },
      { servers: { mcpServers: { e: { command: 'x' } } } },
      { server: { f: { command: 'x' } } },
      { name: 'g', text: '{"command": "x"}' },
    ]) {
      const { structuredContent } = await answer({ operation: 'add', ...args });
      expect(structuredContent['results']).toMatchObject([{ result: 'added', trust: 'manual' }]);
    }
    for (const name of 'abcdefg') expect(configFile.now()).toContain(`"${name}": {`);
  });

  test.each<[JsonObject, string]>([
    [{}, '"operation" must be one of'],
    [{ operation: 'approve', name: 'one' }, '"operation" must be one of'],
    [{ operation: 'remove' }, 'Give "name"'],
    [{ operation: 'add' }, 'Give "name" and "server"'],
    [{ operation: 'add', servers: 'nonsense' }, '"servers" must be an object'],
    [{ operation: 'update', name: 'one' }, 'Give "changes"'],
    [{ operation: 'tail_log', name: 'nobody' }, 'There is no server "nobody"'],
  ])('manage_servers: explains what is wrong with %j', async (args, why) => {
    const { isError, content, structuredContent } = await answer(args);
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain(why);
    expect(structuredContent).toHaveProperty('error.code');
    expect(configFile.now()).toBe(CONFIG_TEXT);
  });

  test('manage_servers: refuses the log of a server that runs per session', async () => {
    configFile.write(
      CONFIG_TEXT.replace('"command": "one-server"', '"share": "session", "command": "one-server"'),
    );
    const { isError, content } = await answer({ operation: 'tail_log', name: 'one' });
    expect([isError, content[0]?.text]).toEqual([
      true,
      'Each session has its own process of "one", so only a person can read their common log: trunkline logs --process one',
    ]);
  });

  test('manage_servers: hides servers that the caller may not see', async () => {
    const sees = (name: string): boolean => name === 'one';
    const { structuredContent } = await answer({ operation: 'list' }, sees);
    expect(structuredContent['servers']).toMatchObject([{ name: 'one' }]);
    for (const operation of ['update', 'remove', 'enable', 'disable', 'restart', 'refresh', 'tail_log'])
      expect((await answer({ operation, name: 'two', changes: {} }, sees)).content[0]?.text).toBe(
        'There is no server "two".',
      );
    expect(configFile.now()).toBe(CONFIG_TEXT);
  });

  test('manage_servers: reveals no hidden server through errors, suggestions or conflicts', async () => {
    const sees = (name: string): boolean => name !== 'two';
    const same = { url: 'https://example.com/mcp?api_key=hush-hush-3' };
    const added = await answer({ operation: 'add', servers: { other: same } }, sees);
    expect(added.structuredContent['results']).toMatchObject([{ result: 'added' }]);
    expect(JSON.stringify(added)).not.toContain('two');
    configFile.write(CONFIG_TEXT);
    for (const entry of [same, { command: 'x' }])
      expect(
        (await answer({ operation: 'add', servers: { two: entry } }, sees)).structuredContent['results'],
      ).toEqual([
        {
          name: 'two',
          result: 'refused',
          remarks: [],
          reason: 'this name cannot be used; choose another one',
        },
      ]);
    // A free name gets the same response as the name of a hidden server, so the response reveals nothing.
    const seesOne = (name: string): boolean => name === 'one';
    const [hidden, free] = (
      (await answer({ operation: 'add', servers: { two: same, free: same } }, seesOne)).structuredContent[
        'results'
      ] as { name: string }[]
    ).map(({ name: _, ...rest }) => rest);
    expect(free).toEqual(hidden);
    for (const operation of ['update', 'remove', 'enable', 'disable', 'tail_log']) {
      const said = (name: string) => answer({ operation, name, changes: {} }, sees);
      expect((await said('twoo')).content[0]?.text).toBe('There is no server "twoo".');
      expect((await said('onee')).content[0]?.text).toBe('There is no server "onee". Did you mean one?');
    }
    expect(configFile.now()).toBe(CONFIG_TEXT);
  });

  test('manage_servers: answers alike for a free name and for a server hidden by a tag', async () => {
    const before = CONFIG_TEXT.replace('"two"', '"ones"');
    const said = async (name: string, operation: string, given: JsonObject): Promise<string> => {
      configFile.write(before);
      const answered = await answer({ operation, name, ...given }, (each) => each !== 'ones', {
        canSeeNew: () => true,
        mayCollideWithHidden: true,
      });
      return JSON.stringify(answered)
        .replaceAll(name, 'NAME')
        .replaceAll(/NAME-[0-9a-f]{6}/g, 'NAME-ENDING');
    };
    const others = ['update', 'remove', 'enable', 'disable', 'restart', 'refresh', 'tail_log'];
    const asked: [string, JsonObject][] = [
      ...others.flatMap((each): [string, JsonObject][] => [
        [each, {}],
        [each, { changes: { idle: '5m' } }],
        [each, { changes: { trust: 'scan' } }],
      ]),
      ['add', {}],
      ['add', { server: { command: 'x' } }],
      ['add', { server: { url: 'https://example.com/mcp?api_key=hush-hush-3' } }],
      ['add', { server: { command: '' } }],
    ];
    for (const [operation, given] of asked) {
      const hidden = await said('ones', operation, given);
      expect(hidden, operation).toBe(await said('onez', operation, given));
      expect(hidden, operation).not.toContain('hush');
    }
    // Both servers get unique names, and a second request finds them.
    expect(await said('ones', 'add', { server: { command: 'x' } })).toContain('NAME-ENDING: added');
    expect(configFile.now()).toContain(
      '"ones": {\n      "url": "https://example.com/mcp?api_key=hush-hush-3"',
    );
    const again = await answer({ operation: 'add', name: 'ones', server: { command: 'x' } }, undefined, {
      mayCollideWithHidden: true,
    });
    expect(again.structuredContent['results']).toMatchObject([{ result: 'refused' }]);
    const twice = await answer(
      { operation: 'add', name: 'ones', server: { command: 'x' } },
      (each) => each !== 'ones',
      { canSeeNew: () => true, mayCollideWithHidden: true },
    );
    expect(twice.structuredContent['results']).toMatchObject([
      { name: expect.stringMatching(/^ones-[0-9a-f]{6}$/), result: 'same' },
    ]);
  });

  test('manage_servers: does not reveal the path of the configuration', async () => {
    configFile.write(CONFIG_TEXT.replace('{', '{ "readOnly": true,'));
    const refused = await answer({ operation: 'remove', name: 'one' });
    expect(refused.structuredContent['error']).toEqual({
      code: 'CONFIG_READ_ONLY',
      message: 'The configuration has "readOnly": true, so nothing was changed; edit it by hand.',
    });
    configFile.write('{ oops');
    const broken = await answer({ operation: 'remove', name: 'one' });
    expect(broken.structuredContent['error']).toMatchObject({ code: 'CONFIG_INVALID' });
    for (const said of [refused, broken]) expect(JSON.stringify(said)).not.toContain(configFile.file);
    configFile.write(CONFIG_TEXT);
  });

  test('manage_servers: limits the size of log output', async () => {
    const { content, structuredContent } = await answer({ operation: 'tail_log', name: 'one', lines: 500 });
    expect(content[0]?.text.length).toBeLessThan(33_000);
    expect(structuredContent).toMatchObject({ name: 'one', hasMore: true });
  });
});

test('tool_stats: lists the most used tools first, with totals over all tools', () => {
  const row = (name: string, calls: number) => ({
    name,
    server: 's',
    entry: name,
    kind: 'tool',
    calls,
    errors: 1,
    refused: 2,
    lastAt: 0,
    bytesIn: 0,
    bytesOut: 0,
    tokensIn: 0,
    tokensOut: 0,
  });
  const { value } = formatToolStats({ top: 2 }, [row('a', 1), row('c', 5), row('b', 5)]);
  expect(value).toMatchObject({
    structuredContent: {
      totals: { tools: 3, calls: 11, errors: 3, refused: 6 },
      tools: [{ name: 'b' }, { name: 'c' }],
    },
  });
});
