import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { root } from './source-tree.ts';

interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  /** A job that calls another workflow has no steps of its own. */
  readonly uses?: string;
  readonly 'timeout-minutes'?: number;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
  readonly steps?: readonly Step[];
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

const folder = join(root, '.github', 'workflows');
const files = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name), 'utf8');
  return { name, text, workflow: parse(text) as Workflow };
});
const jobs = files.flatMap(({ name, workflow }) =>
  Object.entries(workflow.jobs).map(([id, job]) => ({ id: `${name}: ${id}`, job })),
);
const steps = jobs.flatMap(({ id, job }) => (job.steps ?? []).map((step) => ({ id, step })));
const { engines, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
};

test('workflows: pins every action to a commit, with its version in a comment', () => {
  const used = files.flatMap(({ name, text }) =>
    [...text.matchAll(/^.*\buses:.*$/gm)].map(([line]) => `${name}: ${line.trim()}`),
  );
  const pinned = /uses: [\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/;
  const local = /uses: \.\/\.github\/workflows\/[\w-]+\.yml$/;
  expect(used).not.toEqual([]);
  expect(used.filter((line) => !pinned.test(line) && !local.test(line))).toEqual([]);
});

test('workflows: uses one version of each action', () => {
  const commits = new Map<string, Set<string>>();
  for (const { step } of steps) {
    const [action = '', commit = ''] = step.uses?.split('@') ?? [];
    const repository = action.split('/').slice(0, 2).join('/');
    commits.set(repository, (commits.get(repository) ?? new Set()).add(commit));
  }
  expect([...commits].filter(([, versions]) => versions.size > 1)).toEqual([]);
});

test('workflows: gives every job a time limit of at most an hour', () => {
  const unlimited = jobs.filter(
    ({ job }) => job.uses === undefined && !((job['timeout-minutes'] ?? Infinity) <= 60),
  );
  expect(unlimited.map(({ id }) => id)).toEqual([]);
});

test('workflows: grants only read access unless a job asks for more', () => {
  const writable = files.filter(({ workflow: { permissions } }) => {
    if (typeof permissions !== 'object' || permissions === null) return true;
    return Object.values(permissions).some((access) => access !== 'read' && access !== 'none');
  });
  expect(writable.map(({ name }) => name)).toEqual([]);
});

test('workflows: keeps no credentials in the checkout', () => {
  const checkouts = steps.filter(({ step }) => step.uses?.startsWith('actions/checkout@'));
  expect(checkouts).not.toEqual([]);
  const keeping = checkouts.filter(({ step }) => step.with?.['persist-credentials'] !== false);
  expect(keeping.map(({ id }) => id)).toEqual([]);
});

test('workflows: runs only scripts of package.json', () => {
  const used = steps.flatMap(({ id, step }) =>
    [...(step.run ?? '').matchAll(/\bnpm (?:run (?:-\S+ )*([\w:-]+)|(test|start))(?![\w:-])/g)].map(
      ([, script, shorthand]) => ({ id, script: script ?? shorthand ?? '' }),
    ),
  );
  expect(used).not.toEqual([]);
  expect(used.filter(({ script }) => !Object.hasOwn(scripts, script))).toEqual([]);
});

test('workflows: tests the lowest supported version of Node wherever several are tested', () => {
  const lowest = engines.node.replace('>=', '');
  const matrices = jobs.filter(({ job }) => job.strategy?.matrix['node'] !== undefined);
  expect(matrices).not.toEqual([]);
  const without = matrices.filter(({ job }) => !job.strategy?.matrix['node']?.includes(lowest));
  expect(without.map(({ id }) => id)).toEqual([]);
});

test('workflows: runs every shard of the tests', () => {
  const sharded = jobs.filter(({ job }) => job.steps?.some(({ run }) => run?.includes('--shard=')));
  expect(sharded).not.toEqual([]);
  for (const { id, job } of sharded) {
    const [, count] = /--shard=\$\{\{ matrix\.shard \}\}\/(\d+)/.exec(JSON.stringify(job.steps)) ?? [];
    const expected = Array.from({ length: Number(count) }, (_, index) => index + 1);
    expect(job.strategy?.matrix['shard'], id).toEqual(expected);
  }
});
