import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';
import { z } from 'zod';

import { isJsonObject } from '../core/json.ts';
import { parseDocument, readNodeValue } from './file/document.ts';
import { loadConfig } from './load-config.ts';
import { fileSchema, generateJsonSchema } from './schema/schema.ts';

const file = fileURLToPath(new URL('../../docs/example.jsonc', import.meta.url));

function exampleValue(): unknown {
  const parsed = parseDocument(readFileSync(file, 'utf8'));
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  return readNodeValue(parsed.root);
}

/** Lists every key of a JSON Schema, such as `http.address` or `mcpServers.*.command`. */
function keysOf(schema: unknown, prefix = ''): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const own = Object.entries(isJsonObject(schema['properties']) ? schema['properties'] : {});
  const keys = own.flatMap(([key, child]) => [prefix + key, ...keysOf(child, `${prefix}${key}.`)]);
  // Keys that accept a scalar or an object.
  const kinds = Array.isArray(schema['anyOf']) ? schema['anyOf'].flatMap((one) => keysOf(one, prefix)) : [];
  keys.push(...kinds);
  const { additionalProperties } = schema;
  return isJsonObject(additionalProperties)
    ? [...keys, ...keysOf(additionalProperties, `${prefix}*.`)]
    : keys;
}

function isUsed(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  if (!isJsonObject(value)) return false;
  if (step === '*') return Object.values(value).some((child) => isUsed(child, rest));
  return step in value && isUsed(value[step], rest);
}

test('example config: loads without warnings', async () => {
  const snapshot = await loadConfig({ file, version: '1' });
  expect(snapshot.warnings).toEqual([]);
  expect(snapshot.value.upstreams.map(({ name }) => name)).toEqual(['files', 'pasted', 'pasted-too']);
  expect(snapshot.disabled).toEqual(['issues', 'tickets', 'nightly', 'cluster', 'disk']);
});

test('example config: uses every key of the schema', () => {
  const keys = keysOf(generateJsonSchema());
  expect(keys).toContain('mcpServers.*.timeouts.connect');
  const example = exampleValue();
  expect(keys.filter((key) => !isUsed(example, key.split('.')))).toEqual([]);
});

test('example config: shows the defaults for top-level settings', () => {
  const { mcpServers: _servers, $schema: _schema, ...written } = fileSchema.parse(exampleValue());
  const { mcpServers: _none, ...byDefault } = fileSchema.parse({});
  const {
    http,
    expose,
    policy,
    search,
    storage,
    fleet: _fleet,
    profiles: _profiles,
    auth: _auth,
    ...shown
  } = written;
  const { http: defaultHttp, expose: defaultExpose, policy: open, profiles, ...rest } = byDefault;
  const { search: defaultSearch, storage: defaultStorage, fleet: _listening, ...defaults } = rest;
  expect(shown).toEqual(defaults);
  const { rerank: _rerank, ...searched } = search;
  expect(searched).toEqual(defaultSearch);
  const { url: _url, key: _key, ...stored } = storage;
  expect(stored).toEqual(defaultStorage);
  expect(profiles).toEqual({});
  expect({ ...policy, rules: [] }).toEqual(open);
  expect({ ...expose, pin: [] }).toEqual(defaultExpose);
  const { publicUrl: _publicUrl, ...listening } = http;
  expect({ ...listening, allowedHosts: [], allowedOrigins: [] }).toEqual(defaultHttp);
});

test('JSON schema: describes every key', () => {
  const bare: string[] = [];
  const look = (schema: unknown, path: string): void => {
    if (!isJsonObject(schema)) return;
    for (const [key, child] of Object.entries(
      isJsonObject(schema['properties']) ? schema['properties'] : {},
    )) {
      if (!isJsonObject(child) || typeof child['description'] !== 'string') bare.push(path + key);
      look(child, `${path}${key}.`);
    }
    look(schema['additionalProperties'], `${path}*.`);
  };
  look(generateJsonSchema(), '');
  expect(bare).toEqual([]);
});

test('JSON schema: accepts the example and rejects what the loader rejects', () => {
  // Zod treats a schema that contains only `required` as one that accepts everything.
  const text = JSON.stringify(generateJsonSchema(), (key, value: unknown) =>
    key === 'oneOf' ? undefined : value,
  );
  const schema = z.fromJSONSchema(JSON.parse(text) as z.core.JSONSchema.JSONSchema);
  const accepts = (value: unknown): boolean => schema.safeParse(value).success;
  expect(accepts(exampleValue())).toBe(true);
  expect(accepts({})).toBe(true);
  expect(accepts({ servers: {} })).toBe(false);
  expect(accepts({ http: { adress: 'x' } })).toBe(false);
  expect(accepts({ shutdown: '5 s' })).toBe(false);
  expect(accepts({ mcpServers: { a: { command: 'x' } } })).toBe(true);
  expect(accepts({ mcpServers: { a: { comand: 'x' } } })).toBe(false);
  expect(accepts({ mcpServers: { a: { command: 'x', args: [1] } } })).toBe(false);
});
