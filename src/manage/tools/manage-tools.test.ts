import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../../model/json.ts';
import { createPolicy } from '../../policy/decide.ts';
import { tierOf } from '../../policy/tiers.ts';
import type { ChangedBy } from '../changed-by.ts';
import { TEXT, changedFile, model } from '../changed-file.test-support.ts';
import { manageServers } from './manage-servers.ts';
import { manageServersEntry, toolStatsEntry } from './tool-definitions.ts';
import { toolStats } from './tool-stats.ts';

const at = changedFile();

function manage(
  args: JsonObject,
  sees: (name: string) => boolean = () => true,
  more: Partial<Pick<ChangedBy, 'seesNew' | 'mayMeetHidden'>> = {},
) {
  const nothing = (): Promise<void> => Promise.resolve();
  const lines = [{ at: 0, from: 'stderr' as const, text: 'x'.repeat(3000) }];
  return manageServers(
    args,
    { ...model, sees, ...more },
    {
      changes: at.changes(),
      states: () => [{ name: 'one', state: 'ready', tools: 3 }],
      ...{ restart: nothing, refresh: nothing, sees },
      log: (_, count) => ({
        lines: Array.from({ length: count }, () => lines).flat(),
        hasMore: false,
        next: 0,
      }),
    },
  );
}

async function answer(...given: Parameters<typeof manage>) {
  return (await manage(...given)).value as {
    readonly isError?: boolean;
    readonly content: readonly { readonly text: string }[];
    readonly structuredContent: JsonObject;
  };
}

test('only a caller who may destroy manages servers, and whoever reads may see statistics', () => {
  const policy = createPolicy({
    ...{ policy: { default: 'allow', rules: [] }, profiles: {}, tagsOf: () => [] },
    tierOf: ({ definition }) => tierOf(definition),
  });
  const verdicts = (tier: 'read' | 'write' | 'destructive'): readonly string[] => {
    const { decide } = policy.for({ id: 'x', via: 'http', profile: 'default', tier });
    return [manageServersEntry(), toolStatsEntry()].map((entry) => decide(entry).verdict);
  };
  expect(verdicts('read')).toEqual(['hide', 'allow']);
  expect(verdicts('write')).toEqual(['hide', 'allow']);
  expect(verdicts('destructive')).toEqual(['allow', 'allow']);
});

describe('manage_servers', () => {
  test('takes an entry in whichever way models give it', async () => {
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
    for (const name of 'abcdefg') expect(at.now()).toContain(`"${name}": {`);
  });

  test.each<[JsonObject, string]>([
    [{}, '"operation" must be one of'],
    [{ operation: 'approve', name: 'one' }, '"operation" must be one of'],
    [{ operation: 'remove' }, 'Give "name"'],
    [{ operation: 'add' }, 'Give "name" and "server"'],
    [{ operation: 'add', servers: 'nonsense' }, '"servers" must be an object'],
    [{ operation: 'update', name: 'one' }, 'Give "changes"'],
    [{ operation: 'tail_log', name: 'nobody' }, 'There is no server "nobody"'],
  ])('says what is wrong with %j', async (args, why) => {
    const { isError, content, structuredContent } = await answer(args);
    expect(isError).toBe(true);
    expect(content[0]?.text).toContain(why);
    expect(structuredContent).toHaveProperty('error.code');
    expect(at.now()).toBe(TEXT);
  });

  test('gives no lines of other sessions', async () => {
    at.write(TEXT.replace('"command": "one-server"', '"share": "session", "command": "one-server"'));
    const { isError, content } = await answer({ operation: 'tail_log', name: 'one' });
    expect([isError, content[0]?.text]).toEqual([
      true,
      'Each session has its own process of "one", and their log is for a person to read: trunkline logs --process one',
    ]);
  });

  test('knows nothing of servers that the caller may not know of', async () => {
    const sees = (name: string): boolean => name === 'one';
    const { structuredContent } = await answer({ operation: 'list' }, sees);
    expect(structuredContent['servers']).toMatchObject([{ name: 'one' }]);
    for (const operation of ['update', 'remove', 'enable', 'disable', 'restart', 'refresh', 'tail_log'])
      expect((await answer({ operation, name: 'two', changes: {} }, sees)).content[0]?.text).toBe(
        'There is no server "two".',
      );
    expect(at.now()).toBe(TEXT);
  });

  test('says nothing by which such a server could be guessed', async () => {
    const sees = (name: string): boolean => name !== 'two';
    const same = { url: 'https://example.com/mcp?api_key=hush-hush-3' };
    const added = await answer({ operation: 'add', servers: { other: same } }, sees);
    expect(added.structuredContent['results']).toMatchObject([{ result: 'added' }]);
    expect(JSON.stringify(added)).not.toContain('two');
    at.write(TEXT);
    for (const entry of [same, { command: 'x' }])
      expect(
        (await answer({ operation: 'add', servers: { two: entry } }, sees)).structuredContent['results'],
      ).toEqual([
        {
          ...{ name: 'two', result: 'refused', remarks: [] },
          reason: 'this name cannot be used; take another',
        },
      ]);
    // A name that nobody has is answered in the same words where what it names could not be seen.
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
    expect(at.now()).toBe(TEXT);
  });

  test('cannot be asked whether a name is free or that of a server which a tag hides', async () => {
    const before = TEXT.replace('"two"', '"ones"');
    const said = async (name: string, operation: string, given: JsonObject): Promise<string> => {
      at.write(before);
      const answered = await answer({ operation, name, ...given }, (each) => each !== 'ones', {
        ...{ seesNew: () => true, mayMeetHidden: true },
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
    // Both get a name that is theirs, and whoever asks again finds it.
    expect(await said('ones', 'add', { server: { command: 'x' } })).toContain('NAME-ENDING: added');
    expect(at.now()).toContain('"ones": {\n      "url": "https://example.com/mcp?api_key=hush-hush-3"');
    const again = await answer({ operation: 'add', name: 'ones', server: { command: 'x' } }, undefined, {
      mayMeetHidden: true,
    });
    expect(again.structuredContent['results']).toMatchObject([{ result: 'refused' }]);
    const twice = await answer(
      { operation: 'add', name: 'ones', server: { command: 'x' } },
      (each) => each !== 'ones',
      { seesNew: () => true, mayMeetHidden: true },
    );
    expect(twice.structuredContent['results']).toMatchObject([
      { name: expect.stringMatching(/^ones-[0-9a-f]{6}$/), result: 'same' },
    ]);
  });

  test('tells no model where the configuration lies', async () => {
    at.write(TEXT.replace('{', '{ "readOnly": true,'));
    const refused = await answer({ operation: 'remove', name: 'one' });
    expect(refused.structuredContent['error']).toEqual({
      code: 'CONFIG_READ_ONLY',
      message: 'The configuration is changed by hand alone ("readOnly": true); nothing was changed.',
    });
    at.write('{ oops');
    const broken = await answer({ operation: 'remove', name: 'one' });
    expect(broken.structuredContent['error']).toMatchObject({ code: 'CONFIG_INVALID' });
    for (const said of [refused, broken]) expect(JSON.stringify(said)).not.toContain(at.file);
    at.write(TEXT);
  });

  test('gives no more of a log than a model can read', async () => {
    const { content, structuredContent } = await answer({ operation: 'tail_log', name: 'one', lines: 500 });
    expect(content[0]?.text.length).toBeLessThan(33_000);
    expect(structuredContent).toMatchObject({ name: 'one', hasMore: true });
  });
});

test('tool_stats has the most used first, and totals of all', () => {
  const row = (name: string, calls: number) => ({
    ...{ name, server: 's', entry: name, kind: 'tool', calls, errors: 1, refused: 2, lastAt: 0 },
    ...{ bytesIn: 0, bytesOut: 0, tokensIn: 0, tokensOut: 0 },
  });
  const { value } = toolStats({ top: 2 }, [row('a', 1), row('c', 5), row('b', 5)]);
  expect(value).toMatchObject({
    structuredContent: {
      totals: { tools: 3, calls: 11, errors: 3, refused: 6 },
      tools: [{ name: 'b' }, { name: 'c' }],
    },
  });
});
