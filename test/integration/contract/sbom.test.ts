import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { root } from './source-tree.ts';

interface Sbom {
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly { readonly 'bom-ref': string; readonly name: string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const sbom = JSON.parse(
  execFileSync(process.execPath, [join(root, 'scripts', 'sbom.mjs')], { encoding: 'utf8', stdio: 'pipe' }),
) as Sbom;
const names = sbom.components.map(({ name }) => name);

test('sbom: describes the package by its name', () => {
  expect(sbom.metadata.component.name).toBe('trunkline');
});

test('sbom: lists runtime dependencies for all platforms, and what they depend on', () => {
  expect(names).toEqual(
    expect.arrayContaining(['libsql', '@libsql/darwin-arm64', '@libsql/win32-x64-msvc', 'pg', 'pg-types']),
  );
});

test('sbom: lists the packages that are bundled into the program and the dashboard', () => {
  expect(names).toEqual(
    expect.arrayContaining(['zod', 'hono', 'ts-interface-checker', 'preact', '@preact/signals-core']),
  );
});

test('sbom: leaves out the tools of development', () => {
  expect(names.filter((name) => ['vitest', 'typescript', 'oxlint', 'vite'].includes(name))).toEqual([]);
});

test('sbom: every dependency is one of its components', () => {
  const refs = sbom.components.map((component) => component['bom-ref']);
  const unknown = sbom.dependencies.flatMap(({ dependsOn }) =>
    dependsOn.filter((ref) => !refs.includes(ref)),
  );
  expect(unknown).toEqual([]);
});
