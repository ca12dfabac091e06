// Generates the OpenAPI document of the admin API from the types in src/admin/contract/contract.ts.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export async function openapi() {
  const { contract, streams, problem } = await readTypes();
  const schemas = { AdminProblem: withoutDefinitions(problem) };
  for (const { definitions } of [contract, streams, problem]) Object.assign(schemas, definitions);
  const names = [...Object.keys(contract.properties), ...Object.keys(streams.properties)];
  const paths = {};
  for (const name of [...new Set(names)].toSorted(byPath)) {
    const [method, path] = name.split(' ');
    const of = { json: resolved(contract.properties[name]), stream: resolved(streams.properties[name]) };
    const place = path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[place] ??= {})[method.toLowerCase()] = operation(method, path, of, schemas);
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return published({
    openapi: '3.1.0',
    info: { title: 'Trunkline admin API', version, description: INTRODUCTION, license: { name: 'MIT' } },
    servers: [
      { url: 'http://127.0.0.1:7332', description: 'The default address of `trunkline serve --http`.' },
    ],
    security: [{ key: [] }, { session: [] }],
    paths,
    components: { schemas: sorted(schemas), securitySchemes: SCHEMES },
  });
}

/** Reads the types with the TypeScript version of the generator, because ours has no API for this. */
async function readTypes() {
  const generator = await import('ts-json-schema-generator');
  const { createFormatter, createParser, createProgram, EnumType, SchemaGenerator } = generator;
  const require = createRequire(import.meta.resolve('ts-json-schema-generator'));
  const { SyntaxKind } = require('typescript');
  const config = {
    path: join(root, 'src', 'admin', 'contract', 'contract.ts'),
    tsconfig: join(root, 'tsconfig.json'),
    type: 'AdminContract',
    skipTypeCheck: true,
    expose: 'export',
    jsDoc: 'extended',
    topRef: false,
  };
  const program = createProgram(config);
  const checker = program.getTypeChecker();
  // Resolves `keyof typeof value` with the type checker; the generator would analyse the value expression by expression.
  const keysOfValue = {
    supportsNode: (node) =>
      node.kind === SyntaxKind.TypeOperator &&
      node.operator === SyntaxKind.KeyOfKeyword &&
      node.type.kind === SyntaxKind.TypeQuery,
    createType: (node) =>
      new EnumType(
        'keys',
        checker.getTypeFromTypeNode(node).types.map(({ value }) => value),
      ),
  };
  const parser = createParser(program, config, (chain) => chain.addNodeParser(keysOfValue));
  const schemas = new SchemaGenerator(program, parser, createFormatter(config), config);
  const [contract, streams, problem] = ['AdminContract', 'AdminStreams', 'AdminProblem'].map((type) =>
    schemas.createSchema(type),
  );
  return { contract, streams, problem };
}

function operation(method, path, { json, stream }, schemas) {
  const { query, body, response } = { ...stream, ...json };
  const description = json?.description ?? stream?.description;
  const content = {
    ...(response && { 'application/json': { schema: response } }),
    ...(stream && streamContent(stream)),
  };
  const [, , tag = ''] = path.split('/');
  return {
    operationId: idOf(method, path),
    tags: [tag.replace('.json', '')],
    ...(description && { summary: description.split(/[.;] /)[0].replace(/\.$/, ''), description }),
    parameters: [...pathParameters(path), ...queryParameters(query, schemas)],
    ...(body && { requestBody: { content: { 'application/json': { schema: body } } } }),
    responses: {
      200: { description: 'The result.', content },
      default: {
        description: 'An error with a code; docs/errors.md lists all codes.',
        content: { 'application/json': { schema: { $ref: '#/definitions/AdminProblem' } } },
      },
    },
    // A browser that signs in has no credentials yet.
    ...(`${method} ${path}` === 'POST /api/session' && { security: [] }),
  };
}

function streamContent({ type, event }) {
  const types = type.enum ?? [type.const];
  // OpenAPI has no schema for the parts of a stream, so this is the schema of each event.
  const schema = event ?? { type: types[0] === 'application/json' ? 'object' : 'string' };
  return Object.fromEntries(types.map((name) => [name, { schema }]));
}

function pathParameters(path) {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query, schemas) {
  const { properties = {}, required = [] } = query?.$ref ? schemas[nameIn(query.$ref)] : (query ?? {});
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description && { description }),
    schema,
  }));
}

/** Returns the properties of a route, each of which is a schema. */
function resolved(route) {
  return route && { description: route.description, ...route.properties };
}

function idOf(method, path) {
  const words = path
    .replace('/api/', '')
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word[0].toUpperCase() + word.slice(1)).join('');
}

function withoutDefinitions({ definitions: _, $schema: __, ...schema }) {
  return schema;
}

function nameIn(reference) {
  return decodeURIComponent(reference.slice('#/definitions/'.length));
}

function byPath(a, b) {
  const [left, right] = [a, b].map((name) => name.split(' ').toReversed().join(' '));
  return left < right ? -1 : 1;
}

function sorted(object) {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Points references to the place of schemas in OpenAPI, and allows additional properties, because later versions may add some. */
function published(value) {
  if (Array.isArray(value)) return value.map(published);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => !(key === 'additionalProperties' && inner === false))
      .map(([key, inner]) => [
        key,
        key === '$ref' ? `#/components/schemas/${nameIn(inner)}` : published(inner),
      ]),
  );
}

const INTRODUCTION =
  'The API of the command line and the dashboard. Times are in milliseconds since 1970. Every error response is an AdminProblem. See docs/admin-api.md.';

const SCHEMES = {
  key: {
    type: 'http',
    scheme: 'bearer',
    description: 'The admin key in run/admin.key of the state folder. It changes with every start.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'trunkline_PORT',
    description:
      'The cookie of a browser that opened the link of `trunkline dashboard`. Requests other than GET also need the header `x-trunkline` and the origin of the dashboard.',
  },
};
