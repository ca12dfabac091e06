import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { cpuStopwatch } from '../../../test/support/cpu-time.ts';
import type { ToolEntry } from '../../core/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../core/ids.ts';
import type { IndexSource } from './corpus.ts';
import { embedTools, buildSemanticIndex } from './semantic-index.ts';
import { buildIndex } from './search-index.ts';
import type { SearchIndex } from './search-index.ts';
import { readWordVectors } from './word-vectors.ts';

interface Told {
  readonly server?: string;
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: Readonly<Record<string, unknown>>;
}

function sourceOf(told: readonly Told[]): IndexSource {
  const entries = told.map(({ server = 'server', name, description, inputSchema }): ToolEntry => {
    const definition = {
      name,
      ...(description !== undefined && { description }),
      ...(inputSchema && { inputSchema }),
    };
    return {
      kind: 'tool',
      upstream: server as UpstreamName,
      name: `${server}__${name}` as ExposedName,
      fingerprint: JSON.stringify(definition) as Fingerprint,
      definition,
    };
  });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  return { tools: new Map(entries.map((entry) => [entry.name, entry])), upstreams: new Map() };
}

function namesOf(
  index: SearchIndex,
  query: string,
  options: Partial<Parameters<SearchIndex['search']>[1]> = {},
): string[] {
  return index.search(query, { limit: 10, isAllowed: () => true, ...options }).map(({ entry }) => entry.name);
}

const TOOLS: readonly Told[] = [
  { server: 'github', name: 'create_issue', description: 'Create a new issue in a repository.' },
  { server: 'github', name: 'create_pull_request', description: 'Open a pull request from a branch.' },
  { server: 'github', name: 'list_pull_requests', description: 'List the pull requests of a repository.' },
  { server: 'github', name: 'delete_file', description: 'Delete a file from a repository.' },
  {
    server: 'files',
    name: 'read_file',
    description: 'Read a file from disk.',
    inputSchema: { properties: { path: { type: 'string' } } },
  },
  {
    server: 'files',
    name: 'write_file',
    description: 'Write text to a file on disk.',
    inputSchema: { properties: { path: { type: 'string' } } },
  },
  {
    server: 'web',
    name: 'fetch',
    description: 'Get a page of the web.',
    inputSchema: { properties: { url: { type: 'string' } } },
  },
  { server: 'weather', name: 'forecast', description: 'Temperature and rain for the coming days.' },
  { server: 'weather', name: 'alerts', description: 'Storms and other dangers.' },
  { server: 'kube', name: 'list_pods', description: 'List the pods of a kubernetes cluster.' },
];

describe('search index', () => {
  const index = buildIndex(sourceOf(TOOLS));

  it('search: ranks the tool with the queried words first', () => {
    expect(namesOf(index, 'create an issue')[0]).toBe('github__create_issue');
    expect(namesOf(index, 'what will the weather be')[0]).toMatch(/^weather__/);
  });

  it.each([
    'github__delete_file',
    'GITHUB__DELETE_FILE',
    'delete_file',
    'deleteFile',
    'delete file',
    'please run github__delete_file now',
  ])('search: ranks a tool named in the query first: %s', (query) => {
    expect(namesOf(index, query)[0]).toBe('github__delete_file');
  });

  it('search: knows synonyms and abbreviations', () => {
    expect(namesOf(index, 'remove a document from the repo')[0]).toBe('github__delete_file');
    expect(namesOf(index, 'open PR')[0]).toBe('github__create_pull_request');
    expect(namesOf(index, 'k8s containers')[0]).toBe('kube__list_pods');
  });

  it('search: repairs typing errors and completes word beginnings', () => {
    expect(namesOf(index, 'tempertaure')[0]).toBe('weather__forecast');
    expect(namesOf(index, 'kubern')[0]).toBe('kube__list_pods');
  });

  it('search: finds the sum tool by any word for addition', () => {
    const sums = buildIndex(
      sourceOf([
        ...TOOLS,
        { server: 'everything', name: 'get-sum', description: 'Returns the sum of two numbers' },
        { server: 'memory', name: 'add_observations', description: 'Add new observations to entities' },
      ]),
    );
    for (const query of ['add two numbers', 'sum of two numbers', 'what is 2 plus 3'])
      expect(namesOf(sums, query)[0]).toBe('everything__get-sum');
  });

  it('search: treats two words as the compound they form', () => {
    const houses = buildIndex(sourceOf([...TOOLS, { name: 'houses', description: 'Property for sale.' }]));
    expect(namesOf(houses, 'real estate agents')[0]).toBe('server__houses');
  });

  it('search: finds the tools for all parts of a compound request', () => {
    const found = namesOf(
      index,
      'Get the weather forecast for tomorrow, and then write it to /tmp/weather.txt',
    ).slice(0, 3);
    expect(found).toContain('weather__forecast');
    expect(found).toContain('files__write_file');
  });

  it('search: reports which query words matched', () => {
    const [hit] = index.search('create an issue about bananas', { limit: 1, isAllowed: () => true });
    expect(hit?.matched).toEqual(['create', 'issue']);
  });

  it('search: restricts results to one server', () => {
    expect(namesOf(index, 'list read create file', { server: 'files' })).toEqual([
      'files__read_file',
      'files__write_file',
    ]);
  });

  it('search: omits invisible tools without changing order or scores of the rest', () => {
    const all = index.search('file repository list', { limit: 50, isAllowed: () => true });
    const some = index.search('file repository list', {
      limit: 50,
      isAllowed: ({ name }) => !name.startsWith('github'),
    });
    expect(some).toEqual(all.filter(({ entry }) => !entry.name.startsWith('github')));
  });

  it('search: uses the usage prior only between equal matches', () => {
    const twins = buildIndex(
      sourceOf([
        { server: 'a', name: 'run', description: 'Run it.' },
        { server: 'b', name: 'run', description: 'Run it.' },
        ...TOOLS,
      ]),
    );
    expect(namesOf(twins, 'run it')[0]).toBe('a__run');
    const prior = ({ upstream }: ToolEntry): number => (upstream === 'b' ? 1 : 0);
    expect(namesOf(twins, 'run it', { prior })[0]).toBe('b__run');
    expect(namesOf(twins, 'create an issue', { prior })[0]).toBe('github__create_issue');
    const weak = ({ name }: ToolEntry): number => (name === 'github__list_pull_requests' ? 1 : 0);
    const query = 'create an issue in a repository';
    expect(namesOf(twins, query)).toContain('github__list_pull_requests');
    expect(namesOf(twins, query, { prior: weak })[0]).toBe('github__create_issue');
  });

  it('search: returns descending scores and the same result each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (query) => {
        const hits = index.search(query, { limit: 50, isAllowed: () => true });
        hits.forEach(({ score }, at) => {
          expect(score).toBeGreaterThan(0);
          expect(score).toBeLessThanOrEqual(hits[at - 1]?.score ?? Infinity);
        });
        expect(index.search(query, { limit: 50, isAllowed: () => true })).toEqual(hits);
      }),
    );
  });

  it('search: finds every tool by its exposed name', () => {
    for (const { name } of index.entries) expect(namesOf(index, name)[0]).toBe(name);
  });
});

describe('incremental index', () => {
  it('incremental index: analyses only new and changed tools', () => {
    const before = buildIndex(sourceOf(TOOLS));
    expect(before.analysed).toBe(TOOLS.length);
    const changed = [
      ...TOOLS.slice(1),
      { server: 'github', name: 'create_issue', description: 'Make a banana.' },
    ];
    const after = buildIndex(sourceOf(changed), { previous: before });
    expect(after.analysed).toBe(1);
    expect(namesOf(after, 'banana')).toEqual(['github__create_issue']);
    expect(namesOf(before, 'banana')).toEqual([]);
  });

  it('incremental index: repairs words like a fresh index', () => {
    const many = ['r', 'z', 'x', 'y', 'w', 'v', 'u'].map((end) => ({ name: `calenda${end}` }));
    const reused = buildIndex(sourceOf(many), { previous: buildIndex(sourceOf(many.toReversed().slice(1))) });
    const options = { limit: 10, isAllowed: () => true };
    const fresh = buildIndex(sourceOf(many)).search('calendam', options);
    expect(fresh.length).toBeGreaterThan(0);
    expect(reused.search('calendam', options)).toEqual(fresh);
  });

  it('incremental index: answers like a fresh index', () => {
    const tool = fc.record({
      server: fc.constantFrom('a', 'b', 'c'),
      name: fc.constantFrom('read', 'write_file', 'listPods', 'x'),
      description: fc.constantFrom('Read a file.', 'Write it.', 'List all pods of a cluster.', ''),
    });
    fc.assert(
      fc.property(fc.array(tool, { maxLength: 8 }), fc.array(tool, { maxLength: 8 }), (first, second) => {
        const fresh = buildIndex(sourceOf(second));
        const reused = buildIndex(sourceOf(second), { previous: buildIndex(sourceOf(first)) });
        for (const query of ['read a file', 'pods', 'write']) {
          const options = { limit: 10, isAllowed: () => true };
          expect(reused.search(query, options)).toEqual(fresh.search(query, options));
        }
      }),
    );
  });

  it('incremental index: forgets words of removed tools', () => {
    const words = Array.from(
      { length: 8_000 },
      (_, at) =>
        `word${'abcdefghij'.charAt(at % 10)}${at.toString(26).replaceAll(/\d/g, (d) => 'qrstuvwxyz'.charAt(Number(d)))}`,
    );
    const many = Array.from({ length: 80 }, (_, at) => ({
      name: `tool${at}`,
      description: words.slice(at * 100, at * 100 + 100).join(' '),
    }));
    const large = buildIndex(sourceOf(many));
    const small = buildIndex(sourceOf(TOOLS), { previous: large });
    expect(small.reusable.words.size).toBeLessThan(1_000);
    expect(namesOf(small, 'create an issue')[0]).toBe('github__create_issue');
  });
});

describe('hostile input', () => {
  const index = buildIndex(sourceOf(TOOLS));

  it.each(['', '   ', 'the of and please', '🦄🦄', '\u0000', 'qqqqzzzz'])(
    'search: finds nothing for a query without any known word: %j',
    (query) => {
      expect(namesOf(index, query)).toEqual([]);
    },
  );

  it.each(['.*(create|delete)+[issue]?\\', '"issue" AND NOT (x', 'create issue:~2^5', '$(create) `issue`'])(
    'search: reads a query as words, not as a query language: %s',
    (query) => {
      expect(namesOf(index, query)).toContain('github__create_issue');
    },
  );

  it('search: finds tools described in Chinese or Russian', () => {
    const foreign = buildIndex(
      sourceOf([
        ...TOOLS,
        { name: 'tianqi', description: '查询指定城市的天气预报' },
        { name: 'pogoda', description: 'Прогноз погоды для города' },
      ]),
    );
    expect(namesOf(foreign, '天气预报')[0]).toBe('server__tianqi');
    expect(namesOf(foreign, 'прогноз погоды')[0]).toBe('server__pogoda');
  });

  it.each([
    ['crear una incidencia', 'github__create_issue'],
    ['supprimer un fichier', 'github__delete_file'],
    ['eine Datei lesen', 'files__read_file'],
    ['прочитать файл', 'files__read_file'],
    ['قراءة الملف', 'files__read_file'],
    ['ファイルを削除する', 'github__delete_file'],
    ['删除文件', 'github__delete_file'],
    ['파일 삭제해줘', 'github__delete_file'],
    // "creaet" begins like a Spanish word; the other word must still be repaired.
    ['creaet isseu', 'github__create_issue'],
  ])('search: finds %s among tools described in English', (query, expected) => {
    expect(namesOf(index, query)[0]).toBe(expected);
  });

  it('search: answers a query of 100 kB quickly', () => {
    const words = 'create the issue then delete a file and lst pods '.repeat(2_100);
    namesOf(index, words);
    const cpuMs = cpuStopwatch();
    expect(namesOf(index, words).length).toBeGreaterThan(0);
    for (const query of [
      'x'.repeat(100_000),
      '查询'.repeat(50_000),
      '/a'.repeat(50_000),
      'a.'.repeat(50_000),
      'aB'.repeat(50_000),
    ])
      namesOf(index, query);
    expect(cpuMs()).toBeLessThan(3_000);
  });

  it('search: indexes missing descriptions, malformed fields and huge or circular schemas', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [
        `field_${at}`,
        { type: 'string', description: 'Some text that repeats. '.repeat(3) },
      ]),
    );
    let deep: Record<string, unknown> = { type: 'string' };
    for (let at = 0; at < 500; at += 1) deep = { type: 'object', properties: { inner: deep } };
    const odd = buildIndex(
      sourceOf([
        { name: 'bare' },
        { name: 'huge', description: 'Takes everything.', inputSchema: { properties } },
        { name: 'deep', inputSchema: deep },
        {
          name: 'circle',
          inputSchema: {
            $ref: '#/$defs/node',
            $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } },
          },
        },
        { name: 'odd', inputSchema: { properties: null, items: 7, anyOf: 'x', enum: [1, null, {}] } },
        { name: '' },
      ]),
    );
    for (const name of ['bare', 'huge', 'deep', 'circle', 'odd'])
      expect(namesOf(odd, name)[0]).toBe(`server__${name}`);
  });

  it('search: indexes 5,000 tools of one server', () => {
    const many = buildIndex(
      sourceOf(
        Array.from({ length: 5_000 }, (_, at) => ({
          name: `tool_${at}`,
          description: `Does thing number ${at}.`,
        })),
      ),
    );
    expect(namesOf(many, 'tool_4711')[0]).toBe('server__tool_4711');
    expect(namesOf(many, 'number', { limit: 50 })).toHaveLength(50);
  });

  it('search: returns nothing for a limit of 0 or without tools', () => {
    expect(namesOf(index, 'create', { limit: 0 })).toEqual([]);
    expect(namesOf(buildIndex(sourceOf([])), 'create')).toEqual([]);
  });
});

describe('semantic search', () => {
  const head = new TextEncoder().encode(JSON.stringify({ dimensions: 2, terms: 'rain umbrella issu cat' }));
  const bytes = new Uint8Array([head.length, 0, 0, 0, ...head, 127, 0, 120, 20, 0, 127, 129, 10]);
  const vectors = readWordVectors(bytes);

  it('semantic search: finds a tool that shares no word with the query', () => {
    const lexical = buildIndex(sourceOf(TOOLS));
    expect(namesOf(lexical, 'umbrella')).toEqual([]);
    const semantic = buildIndex(sourceOf(TOOLS), { vectors });
    expect(namesOf(semantic, 'umbrella')[0]).toBe('weather__forecast');
  });

  it('semantic search: distinguishes clear from weak similarity', () => {
    const made = buildSemanticIndex(Float32Array.of(1, 0, 0, 1, 0, 1, 0, 1), 2);
    const first = (degrees: number): { like: number; clear: number } => {
      const angle = (degrees * Math.PI) / 180;
      const { similarities, hitThreshold } = made.similarityTo(
        Float32Array.of(Math.cos(angle), Math.sin(angle)),
      );
      return { like: similarities[0] ?? 0, clear: hitThreshold };
    };
    expect(first(10).like).toBeGreaterThan(first(10).clear);
    expect(first(60).like).toBeGreaterThan(0);
    expect(first(60).like).toBeLessThan(first(60).clear);
  });

  it('semantic search: finds nothing by weak similarity alone', () => {
    const index = buildIndex(sourceOf(TOOLS));
    const similarities = new Float32Array(TOOLS.length).fill(0.5);
    expect(namesOf(index, 'whale', { similarity: { similarities, hitThreshold: 0.6 } })).toEqual([]);
    expect(namesOf(index, 'whale', { similarity: { similarities, hitThreshold: 0.4 } })).toHaveLength(
      TOOLS.length,
    );
  });

  it('semantic search: does not treat a known word as a typing error', () => {
    const lexical = buildIndex(sourceOf([{ name: 'umbrelas', description: 'Lends them.' }]));
    expect(namesOf(lexical, 'umbrella')).toEqual(['server__umbrelas']);
    const semantic = buildIndex(sourceOf([{ name: 'umbrelas', description: 'Lends them.' }]), { vectors });
    expect(namesOf(semantic, 'umbrella')).toEqual([]);
  });

  it('semantic search: reuses vectors of unchanged tools with the same result as a fresh index', () => {
    const before = buildIndex(sourceOf(TOOLS), { vectors });
    const changed = sourceOf([...TOOLS.slice(2), { name: 'new', description: 'Rain on a cat.' }]);
    const after = buildIndex(changed, { vectors, previous: before });
    const fresh = buildIndex(changed, { vectors });
    expect(after.analysed).toBe(1);
    expect(after.rows?.matrix).toEqual(fresh.rows?.matrix);
    const facts = { era: 'legacy', protocol: '', info: { name: 'rain' }, capabilities: {} } as const;
    const renamed = { ...changed, upstreams: new Map([['web' as UpstreamName, { facts }]]) };
    expect(buildIndex(renamed, { vectors, previous: before }).rows?.matrix).toEqual(
      buildIndex(renamed, { vectors }).rows?.matrix,
    );
    const options = { limit: 10, isAllowed: () => true };
    for (const query of ['umbrella', 'cat', 'read a file', 'issue'])
      expect(after.search(query, options)).toEqual(fresh.search(query, options));
  });

  it('semantic search: never ranks anything above an exact name', () => {
    const similarities = new Float32Array(TOOLS.length).fill(1);
    const index = buildIndex(sourceOf(TOOLS), { vectors });
    for (const [at, { name }] of index.entries.entries()) {
      similarities[at] = 0;
      expect(namesOf(index, name, { similarity: { similarities, hitThreshold: 0 } })[0]).toBe(name);
      similarities[at] = 1;
    }
  });

  it('semantic search: accepts vectors from an external embedder', async () => {
    const index = buildIndex(sourceOf(TOOLS));
    const embed = (texts: readonly string[]): Promise<Float32Array[]> =>
      Promise.resolve(
        texts.map((text) => Float32Array.of(text.includes('pods') || text === 'whale' ? 1 : 0, 0.5)),
      );
    const { signal } = new AbortController();
    const made = await embedTools(index.entries, { embed }, { signal });
    const [vector = new Float32Array()] = await embed(['whale']);
    expect(namesOf(index, 'whale', { similarity: made.similarityTo(vector) })[0]).toBe('kube__list_pods');
  });

  it('word vectors: rejects a file in another format', () => {
    const wrong = new TextEncoder().encode('{"a":1}');
    expect(() => readWordVectors(new Uint8Array([wrong.length, 0, 0, 0, ...wrong]))).toThrow(TypeError);
  });
});
