import { expect, test } from 'vitest';

import type { Snapshot } from '../catalog/snapshot.ts';
import type { ToolEntry } from '../model/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../model/ids.ts';
import { silentLogger } from '../observe/log.ts';
import { toolSearch } from './tool-search.ts';

const vectors = new URL('../search/data/word-vectors.bin', import.meta.url);

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
    routes: { templates: [], renamed: new Map() },
  };
}

test.each([
  ['with word vectors', vectors],
  ['without word vectors', undefined],
  ['with a file of word vectors that is not there', new URL('none.bin', vectors)],
])('%s, each snapshot is searched as it is', async (_, file) => {
  const find = toolSearch({ upstreams: [], vectors: file, log: silentLogger });
  const before = snapshotOf({ one: 'Sends an e-mail.', two: 'Reads a file.' });
  const after = snapshotOf({ two: 'Reads a file.', three: 'Sends an e-mail.' });
  const best = async (snapshot: Snapshot): Promise<string | undefined> =>
    (await find(snapshot, 'send an email', { limit: 1 }))[0]?.entry.name;
  expect(await Promise.all([best(before), best(after), best(before)])).toEqual([
    's__one',
    's__three',
    's__one',
  ]);
});
