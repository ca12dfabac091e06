import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';
import { z } from 'zod';

import { isJsonObject } from '../model/json.ts';
import { parseDocument, valueOf } from './file/document.ts';
import { loadConfig } from './load.ts';
import { fileSchema, jsonSchema } from './schema/schema.ts';

const file = fileURLToPath(new URL('../../docs/example.jsonc', import.meta.url));

function exampleValue(): unknown {
  const parsed = parseDocument(readFileSync(file, 'utf8'));
  if ('problem' in parsed) throw new Error(parsed.problem.message);
  return valueOf(parsed.root);
}

/** Every key that a JSON Schema knows, as `http.address` or `mcpServers.*.command`. */
function keysOf(schema: unknown, prefix = ''): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const own = Object.entries(isJsonObject(schema['properties']) ? schema['properties'] : {});
  const keys = own.flatMap(([key, child]) => [prefix + key, ...keysOf(child, `${prefix}${key}.`)]);
  // Where a key takes something simple or an object.
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

test('the example loads without a warning', async () => {
  const snapshot = await loadConfig({ file, version: '1' });
  expect(snapshot.warnings).toEqual([]);
  expect(snapshot.value.upstreams.map(({ name }) => name)).toEqual(['files', 'pasted', 'pasted-too']);
  expect(snapshot.disabled).toEqual(['issues', 'tickets', 'nightly', 'cluster', 'disk']);
});

test('the example uses every key that there is', () => {
  const keys = keysOf(jsonSchema());
  expect(keys).toContain('mcpServers.*.timeouts.connect');
  const example = exampleValue();
  expect(keys.filter((key) => !isUsed(example, key.split('.')))).toEqual([]);
});

test('what the example writes at the top, apart from lists, are the defaults', () => {
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

test('every key has a description', () => {
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
  look(jsonSchema(), '');
  expect(bare).toEqual([]);
});

test('the JSON Schema accepts the example and refuses what the loader refuses', () => {
  // Zod takes a schema that only says `required` for one that accepts everything.
  const text = JSON.stringify(jsonSchema(), (key, value: unknown) => (key === 'oneOf' ? undefined : value));
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
