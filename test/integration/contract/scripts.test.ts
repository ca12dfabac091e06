import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { root } from './source-tree.ts';

const { scripts } = JSON.parse(read('package.json')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

test.each(['README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'docs/benchmarks.md', 'docs/protocol.md'])(
  'npm scripts: every one that %s names exists',
  (document) => {
    const named = [...read(document).matchAll(/\bnpm (?:run ([\w:-]+)|(test|start)\b)/g)].map(
      ([, script, shorthand]) => script ?? shorthand ?? '',
    );
    expect(named).not.toEqual([]);
    expect(named.filter((script) => !Object.hasOwn(scripts, script))).toEqual([]);
  },
);

test('npm test: runs unit and integration tests, without those tagged slow or every-cell', () => {
  const [, file = ''] = /^node (scripts\/\S+)$/.exec(scripts['test'] ?? '') ?? [];
  const source = read(file);
  expect(/QUICK_PROJECTS = (.*);/.exec(source)?.[1]).toBe(`['unit', 'integration']`);
  expect(/QUICK_FILTER = (.*);/.exec(source)?.[1]).toBe(`'!every-cell && !slow'`);
});

test('npm run bench: loads all scenarios, and lists them when it is given an unknown one', () => {
  const [program, file = ''] = (scripts['bench'] ?? '').split(' ');
  expect(program).toBe('node');
  const { status, stderr } = spawnSync(process.execPath, [join(root, file), '--only', 'nonsense'], {
    encoding: 'utf8',
  });
  expect(stderr).toContain('There is no "nonsense" to measure.');
  const names = /names: (.*)/.exec(stderr)?.[1]?.split(', ');
  expect(names).toEqual(expect.arrayContaining(['stdio', 'http', 'start', 'memory', 'tokens', 'search']));
  expect(status).toBe(2);
});

test('npm run conformance: tries clients and servers of both eras with each other, over stdio and HTTP', async () => {
  expect(scripts['conformance']).toBe('node test/conformance/run.mjs');
  const { arrangements } = (await import(
    pathToFileURL(join(root, 'test/conformance/arrangements.mjs')).href
  )) as { readonly arrangements: readonly { readonly name: string }[] };
  const names = arrangements.map(({ name }) => name);
  for (const client of ['2025-11-25', '2026-07-28'])
    for (const server of ['legacy', 'modern'])
      for (const leg of ['stdio', 'http'])
        expect(names).toContain(`${client} through Trunkline to a ${server} server over ${leg}`);
});

test('npm run compat: lists its clients when it is given an unknown one', () => {
  expect(scripts['compat']).toBe('node test/compat/run.mjs');
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(root, 'test/compat/run.mjs'), '--only', 'nonsense'],
    { encoding: 'utf8' },
  );
  expect(stderr).toMatch(/^Unknown: nonsense\. Choose from .*claude-code.*opencode/);
  expect(status).toBe(2);
});

test('docs/compatibility.md: shows the results of the last runs', async () => {
  const { renderPage } = (await import(pathToFileURL(join(root, 'test/compat/page.mjs')).href)) as {
    readonly renderPage: (results: unknown) => string;
  };
  expect(read('docs/compatibility.md')).toBe(renderPage(JSON.parse(read('test/compat/results.json'))));
});

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
