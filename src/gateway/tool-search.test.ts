import { afterEach, describe, expect, test, vi } from 'vitest';

import type { Snapshot } from '../catalog/snapshot.ts';
import { Emitter } from '../core/lib/emitter.ts';
import type { Caller } from '../core/caller.ts';
import type { ToolEntry } from '../core/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../core/ids.ts';
import { silentLogger } from '../observability/log.ts';
import { ToolSearch } from './tool-search.ts';
import { createCatalogView } from './catalog-view.ts';

const vectors = new URL('../catalog/search/data/word-vectors.bin', import.meta.url);
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
    routes: { templates: new Map(), renamed: new Map(), unlistedPages: new Map() },
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
  ['with a missing word vector file', new URL('none.bin', vectors)],
])('tool search: ranks the tools of the given snapshot %s', async (_, file) => {
  const { search } = searchOf(before, { ...(file && { file }) });
  const best = async (snapshot: Snapshot): Promise<string | undefined> =>
    (await search.find(snapshot, 'send an email', { limit: 1 }))[0]?.entry.name;
  expect(await Promise.all([best(before), best(after), best(before)])).toEqual([
    's__one',
    's__three',
    's__one',
  ]);
});

test('tool search: filters by visibility without changing the order', async () => {
  const { search } = searchOf(before);
  const all = await search.find(before, 'send or read a file', { limit: 5 });
  const allow = ({ name }: ToolEntry): boolean => name === 's__one';
  const some = await search.find(before, 'send or read a file', { limit: 5, isAllowed: allow });
  expect(some).toEqual(all.filter(({ entry }) => allow(entry)));
});

describe('index preparation', () => {
  afterEach(() => vi.useRealTimers());

  const manyTools = (what: string): Snapshot =>
    snapshotOf(
      Object.fromEntries(
        Array.from({ length: 1_000 }, (_, at) => [`tool${at}`, `Does the ${what} with number ${at}.`]),
      ),
    );
  const many = manyTools('thing');

  test.each([
    ['before a client is offered search', many, false],
    ['for a small catalog', before, true],
  ])('index preparation: does not start %s', async (_, snapshot, isShown) => {
    vi.useFakeTimers();
    const { search, change } = searchOf(snapshot);
    const timers = vi.getTimerCount();
    if (isShown) search.prepareIndex();
    change(snapshot);
    // The number is compared at once, because earlier tests of this file may still start their own timers.
    expect(vi.getTimerCount()).toBe(timers);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(search.status()).toEqual({ index: 'unused', tools: 0 });
  });

  test('index preparation: builds the index after the last change and again after the next one', async () => {
    const { search, change } = searchOf(many);
    search.prepareIndex();
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

  test('index preparation: answers a search during the build at once, with the same result', async () => {
    const { search } = searchOf(many);
    search.prepareIndex();
    await vi.waitFor(() => expect(search.status().index).toBe('building'), { interval: 1, timeout: 10_000 });
    const early = await search.find(many, 'thing with number 7', { limit: 3 });
    expect(search.status().index).toBe('ready');
    const fresh = searchOf(many);
    expect(early).toEqual(await fresh.search.find(many, 'thing with number 7', { limit: 3 }));
  });

  test('index preparation: stops when the search is disposed', async () => {
    vi.useFakeTimers();
    const { search } = searchOf(many);
    search.prepareIndex();
    search[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(search.status().index).toBe('unused');
  });
});

describe('recent usage', () => {
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
    const view = search.withUsageOf(createCatalogView(twins, [], search.find), caller);
    return (await view.search(query, { limit: 5 })).map(({ entry }) => entry.name);
  };

  test('recent usage: ranks a used tool first among equal matches, for that caller only', async () => {
    const { search } = searchOf(twins);
    expect(await names(search, 'send an email', me)).toEqual(['s__alike_x', 's__alike_y']);
    search.recordUse(me, toolOf('s__alike_y'));
    expect(await names(search, 'send an email', me)).toEqual(['s__alike_y', 's__alike_x']);
    expect(await names(search, 'send an email', me)).toEqual(['s__alike_y', 's__alike_x']);
    expect(await names(search, 'send an email', you)).toEqual(['s__alike_x', 's__alike_y']);
  });

  test('recent usage: never ranks a used tool above a better match', async () => {
    const { search } = searchOf(twins);
    search.recordUse(me, toolOf('s__alike_y'));
    expect((await names(search, 'delete a file', me))[0]).toBe('s__remove');
    expect((await names(search, 's__alike_x', me))[0]).toBe('s__alike_x');
  });

  test('recent usage: has no effect when it is switched off', async () => {
    const { search } = searchOf(twins, { usage: false });
    search.recordUse(me, toolOf('s__alike_y'));
    expect((await names(search, 'send an email', me))[0]).toBe('s__alike_x');
  });

  test('recent usage: reuses the shared view until a caller has used a tool, then one view per caller', () => {
    const { search } = searchOf(twins);
    const view = createCatalogView(twins, [], search.find);
    expect(search.withUsageOf(view, me)).toBe(view);
    search.recordUse(me, toolOf('s__alike_y'));
    expect(search.withUsageOf(view, me)).toBe(search.withUsageOf(view, me));
    expect(search.withUsageOf(view, you)).toBe(view);
  });
});
