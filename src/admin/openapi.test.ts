import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import type { AdminDeps } from './deps.ts';
import { adminRoutes } from './routes.ts';

interface Described {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly content: object }>>;
}

const file = new URL('../../schema/openapi.json', import.meta.url);
const document = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** Routes are only added to it; none of them is asked. */
function noDeps(): AdminDeps {
  const nothing = {} as never; // Whatever is taken out of it is undefined.
  return { gateway: nothing, management: nothing } as unknown as AdminDeps; // The rest is not looked into.
}

test('every route is described, and everything that is described is a route', () => {
  const names = described.map(
    ({ path, method }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
  );
  expect([...new Set(adminRoutes(noDeps()).names)].toSorted()).toEqual(names.toSorted());
});

test('every operation has a name of its own, its parts of the path, and says what it answers', () => {
  const ids = described.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of described) {
    const inPath = operation.parameters.filter((each) => each.in === 'path').map(({ name }) => `{${name}}`);
    expect(path.match(/\{\w+\}/g) ?? []).toEqual(inPath);
    expect(Object.keys(operation.responses['200']?.content ?? {}), path).not.toEqual([]);
  }
});

test('every reference leads to a schema', () => {
  const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
  const names = [...references].map(([, reference = '']) => reference.replace('#/components/schemas/', ''));
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name) => document.components.schemas[name] === undefined)).toEqual([]);
});
