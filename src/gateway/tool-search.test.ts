import { afterEach, describe, expect, test, vi } from 'vitest';

import type { Snapshot } from '../catalog/snapshot.ts';
import { Emitter } from '../lib/emitter.ts';
import type { Caller } from '../model/caller.ts';
import type { ToolEntry } from '../model/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../model/ids.ts';
import { silentLogger } from '../observe/log.ts';
import { ToolSearch } from './tool-search.ts';
import { viewOf } from './view.ts';

const vectors = new URL('../search/data/word-vectors.bin', import.meta.url);
const me: Caller = { id: 'me', via: 'http', profile: 'default' };
const you: Caller = { ...me, id: 'you' };

function snapshotOf(descriptions: Readonly<Record<string, string>>): Snapshot {
  const tools = Object.entries(descriptions).map(([name, description]): [ExposedName, ToolEntry] => {
    const exposed = `s__${name}` as ExposedName;
    const definition = { name, description };
    const fingerprint = `${name} ${description}` as Fingerprint;
    return [exposed, { kind: 'tool', upstream: 's' as UpstreamName, name: exposed, fingerprint, definition }];
  });
  const none = '' as Fingerprint;
  return {
    digest: none,
    digests: { tools: none, prompts: none, resources: none },
    tools: new Map(tools),
    prompts: new Map(),
    resources: new Map(),
    templates: [],
    upstreams: new Map(),
    held: { tools: new Map(), prompts: new Map() },
    routes: { templates: [], renamed: new Map(), referred: new Map() },
  };
}

/** A search over a catalog that the test changes. */
function searchOf(
  current: Snapshot,
  { file, usage = true }: { readonly file?: URL; readonly usage?: boolean } = {},
) {
  const events = new Emitter<{ changed: { before: Snapshot; after: Snapshot } }>();
  const catalog = { current, events };
  const search = new ToolSearch({
    upstreams: [],
    config: { usage },
    catalog,
    log: silentLogger,
    now: Date.now,
    ...(file && { vectors: file }),
  });
  const change = (after: Snapshot): void => {
    const before = catalog.current;
    catalog.current = after;
    events.emit('changed', { before, after });
  };
  return { search, change, catalog };
}

const before = snapshotOf({ one: 'Sends an e-mail.', two: 'Reads a file.' });
const after = snapshotOf({ two: 'Reads a file.', three: 'Sends an e-mail.' });

test.each([
  ['with word vectors', vectors],
  ['without word vectors', undefined],
  ['with a file of word vectors that is not there', new URL('none.bin', vectors)],
])('%s, each snapshot is searched as it is', async (_, file) => {
  const { search } = searchOf(before, { ...(file && { file }) });
  const best = async (snapshot: Snapshot): Promise<string | undefined> =>
    (await search.find(snapshot, 'send an email', { limit: 1 }))[0]?.entry.name;
  expect(await Promise.all([best(before), best(after), best(before)])).toEqual([
    's__one',
    's__three',
    's__one',
  ]);
});

test('a caller is given only what it may see, in the order of everybody', async () => {
  const { search } = searchOf(before);
  const all = await search.find(before, 'send or read a file', { limit: 5 });
  const allow = ({ name }: ToolEntry): boolean => name === 's__one';
  const some = await search.find(before, 'send or read a file', { limit: 5, allow });
  expect(some).toEqual(all.filter(({ entry }) => allow(entry)));
});

describe('ahead of the first search', () => {
  afterEach(() => vi.useRealTimers());

  const manyTools = (what: string): Snapshot =>
    snapshotOf(
      Object.fromEntries(
        Array.from({ length: 1_000 }, (_, at) => [`tool${at}`, `Does the ${what} with number ${at}.`]),
      ),
    );
  const many = manyTools('thing');

  test.each([
    ['unless a client was shown a search', many, false],
    ['while the first search can do it quickly', before, true],
  ])('nothing is made %s', async (_, snapshot, isShown) => {
    vi.useFakeTimers();
    const { search, change } = searchOf(snapshot);
    const timers = vi.getTimerCount();
    if (isShown) search.prepare();
    change(snapshot);
    // Compared at once: what ran before in this file may start one of its own meanwhile.
    expect(vi.getTimerCount()).toBe(timers);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(search.status()).toEqual({ index: 'unused', tools: 0 });
  });

  test('the index is made once nothing changes any more, and again when something does', async () => {
    const { search, change } = searchOf(many);
    search.prepare();
    const other = manyTools('other thing');
    change(other);
    expect(search.status().index).toBe('unused');
    const wait = { timeout: 10_000 };
    await vi.waitFor(() => expect(search.status()).toMatchObject({ index: 'ready', tools: 1_000 }), wait);
    const [hit] = await search.find(other, 'tool7', { limit: 1 });
    expect(hit?.entry).toBe(other.tools.get('s__tool7' as ExposedName));
    change(before);
    await vi.waitFor(() => expect(search.status()).toMatchObject({ index: 'ready', tools: 2 }), wait);
    search[Symbol.dispose]();
  });

  test('whoever searches meanwhile gets the same answer at once', async () => {
    const { search } = searchOf(many);
    search.prepare();
    await vi.waitFor(() => expect(search.status().index).toBe('building'), { interval: 1, timeout: 10_000 });
    const early = await search.find(many, 'thing with number 7', { limit: 3 });
    expect(search.status().index).toBe('ready');
    const fresh = searchOf(many);
    expect(early).toEqual(await fresh.search.find(many, 'thing with number 7', { limit: 3 }));
  });

  test('nothing goes on after the end', async () => {
    vi.useFakeTimers();
    const { search } = searchOf(many);
    search.prepare();
    search[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(search.status().index).toBe('unused');
  });
});

describe('what a caller used lately', () => {
  const twins = snapshotOf({
    alike_x: 'Sends an e-mail.',
    alike_y: 'Sends an e-mail.',
    remove: 'Deletes a file.',
  });
  const toolOf = (name: string): ToolEntry => {
    const entry = twins.tools.get(name as ExposedName);
    if (entry === undefined) throw new Error(`There is no tool ${name}.`);
    return entry;
  };
  const names = async (search: ToolSearch, query: string, caller: Caller): Promise<string[]> => {
    const view = search.remembering(viewOf(twins, [], search.find), caller);
    return (await view.search(query, { limit: 5 })).map(({ entry }) => entry.name);
  };

  test('comes first among equals, for that caller alone', async () => {
    const { search } = searchOf(twins);
    expect(await names(search, 'send an email', me)).toEqual(['s__alike_x', 's__alike_y']);
    search.used(me, toolOf('s__alike_y'));
    expect(await names(search, 'send an email', me)).toEqual(['s__alike_y', 's__alike_x']);
    expect(await names(search, 'send an email', me)).toEqual(['s__alike_y', 's__alike_x']);
    expect(await names(search, 'send an email', you)).toEqual(['s__alike_x', 's__alike_y']);
  });

  test('never comes before what fits better', async () => {
    const { search } = searchOf(twins);
    search.used(me, toolOf('s__alike_y'));
    expect((await names(search, 'delete a file', me))[0]).toBe('s__remove');
    expect((await names(search, 's__alike_x', me))[0]).toBe('s__alike_x');
  });

  test('does not matter where that is switched off', async () => {
    const { search } = searchOf(twins, { usage: false });
    search.used(me, toolOf('s__alike_y'));
    expect((await names(search, 'send an email', me))[0]).toBe('s__alike_x');
  });

  test('leaves the view as it is until something was used, and then keeps one for the caller', () => {
    const { search } = searchOf(twins);
    const view = viewOf(twins, [], search.find);
    expect(search.remembering(view, me)).toBe(view);
    search.used(me, toolOf('s__alike_y'));
    expect(search.remembering(view, me)).toBe(search.remembering(view, me));
    expect(search.remembering(view, you)).toBe(view);
  });
});
