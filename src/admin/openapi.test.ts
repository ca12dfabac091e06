import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import type { AdminDeps } from './admin-deps.ts';
import { createAdminRoutes } from './admin-routes.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly content: object }>>;
}

const file = new URL('../../schema/openapi.json', import.meta.url);
const document = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** Returns empty dependencies: routes are registered but never called. */
function noDeps(): AdminDeps {
  const empty = {} as never; // Registering routes destructures these two and uses no other dependency.
  return { gateway: empty, management: empty } as unknown as AdminDeps;
}

test('openapi document: describes every route and nothing else', () => {
  const names = operations.map(
    ({ path, method }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
  );
  expect([...new Set(createAdminRoutes(noDeps()).names)].toSorted()).toEqual(names.toSorted());
});

test('openapi document: gives every operation a unique id, its path parameters and a response body', () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of operations) {
    const inPath = operation.parameters
      .filter((parameter) => parameter.in === 'path')
      .map(({ name }) => `{${name}}`);
    expect(path.match(/\{\w+\}/g) ?? []).toEqual(inPath);
    expect(Object.keys(operation.responses['200']?.content ?? {}), path).not.toEqual([]);
  }
});

test('openapi document: resolves every schema reference', () => {
  const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
  const names = [...references].map(([, reference = '']) => reference.replace('#/components/schemas/', ''));
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name) => document.components.schemas[name] === undefined)).toEqual([]);
});
