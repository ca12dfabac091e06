// A scripted agent that knows the menu and does what a careful model would: it searches, reads the marks of the hits, calls with the arguments
// that the schema requires, and selects what it needs. It counts its calls and the tokens of the answers, which a model reads.

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/** Runs one task and returns `{ done, calls, tokens, resultTokens, firstHits, searches }`. */
export async function runTask(task, { client, schemas, separator = '__' }) {
  const seen = { calls: 0, tokens: 0, resultTokens: 0 };
  const call = async (name, args) => {
    const result = await client.request('tools/call', { name, arguments: args });
    const text = (result.content ?? []).map((block) => block.text ?? '').join('\n');
    const tokens = countTokens(text);
    seen.calls += 1;
    seen.tokens += tokens;
    if (!/^(?:search|describe)_tools$/.test(name)) seen.resultTokens += tokens;
    return { text, isError: result.isError === true };
  };
  const { steps, kind } = task;
  const queries = steps.map(({ query }) => query);
  const { text: found } = await call(
    'search_tools',
    steps.length === 1 ? { query: queries[0] } : { queries },
  );
  if (kind === 'missing') return { ...seen, done: true, firstHits: 0, searches: 0 };
  let done = true;
  let firstHits = 0;
  for (const { query, tools, select } of steps) {
    const names = tools.map((tool) => tool.replace('/', separator));
    let hit = hitOf(found, names);
    if (hit !== undefined) firstHits += 1;
    else {
      // A second search names the service, as a model does that has read the list of services.
      const [server] = tools[0].split('/');
      hit = hitOf((await call('search_tools', { query, server })).text, names);
    }
    done &&=
      hit !== undefined && (await callTool(hit, { kind, select, call, schema: schemas.get(hit.name) }));
  }
  return { ...seen, done, firstHits, searches: steps.length };
}

/** Returns the first hit that answers the step, with its mark. */
function hitOf(answer, names) {
  for (const line of answer.split('\n')) {
    const [, name, mark] = /^(\S+?)\(.*\) \[(read|write|destructive)\]$/.exec(line) ?? [];
    if (names.includes(name)) return { name, mark };
  }
  return undefined;
}

async function callTool({ name, mark }, { kind, select, call, schema }) {
  const args = argumentsFor(schema, kind === 'strings');
  const isFind = select.startsWith('find:');
  const given = kind === 'flat' ? { name, ...args } : { name, arguments: args };
  const { text, isError } = await call(`call_${mark}_tool`, {
    ...given,
    ...(select !== '-' && !isFind && { select }),
  });
  if (isError || /\[select (?:failed|gave)/.test(text)) return false;
  const id = /"id":"(r_[\w-]+)"/.exec(text)?.[1];
  const wanted = select.slice('find:'.length);
  if (!isFind || id === undefined || new RegExp(wanted, 'i').test(text)) return true;
  return new RegExp(wanted, 'i').test((await call('read_result', { id, find: wanted })).text);
}

/** Returns the required arguments with simple values of their types. */
function argumentsFor(schema, areStrings) {
  const { properties = {}, required = [] } = schema ?? {};
  return Object.fromEntries(
    required.map((name) => [name, valueFor(properties[name] ?? {}, { schema, areStrings })]),
  );
}

function valueFor(node, options) {
  const { schema, areStrings, depth = 0 } = options;
  if (typeof node.$ref === 'string') {
    const target = node.$ref
      .slice(2)
      .split('/')
      .reduce((inner, step) => inner?.[step], schema);
    return valueFor(depth > 5 ? {} : (target ?? {}), { ...options, depth: depth + 1 });
  }
  if (node.default !== undefined) return node.default;
  if (node.const !== undefined) return node.const;
  if (Array.isArray(node.enum)) return node.enum[0];
  const choices = node.anyOf ?? node.oneOf;
  if (Array.isArray(choices)) return valueFor(choices[0], options);
  const type = Array.isArray(node.type) ? node.type[0] : node.type;
  switch (type) {
    case 'integer':
    case 'number': {
      const number = Math.max(node.minimum ?? 1, Math.min(3, node.maximum ?? 3));
      return areStrings ? String(number) : number;
    }
    case 'boolean':
      return areStrings ? 'true' : true;
    case 'array':
      return [valueFor(node.items ?? {}, options)];
    case 'object':
      return Object.fromEntries(
        (node.required ?? []).map((name) => [name, valueFor(node.properties?.[name] ?? {}, options)]),
      );
    case 'null':
      return null;
    default:
      return stringFor(node);
  }
}

function stringFor({ format, pattern }) {
  if (format === 'date-time' || format === 'date')
    return '2026-03-04T10:00:00Z'.slice(0, format === 'date' ? 10 : 20);
  if (format === 'uri' || format === 'url') return 'https://example.com/a';
  if (format === 'email') return 'bob@example.com';
  return pattern?.includes('\\d') === true ? '1' : 'acme';
}
