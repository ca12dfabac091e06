import { describe, expect, test } from 'vitest';

import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import type { ServerFacts } from '../core/server-facts.ts';
import { isListing, readListing, isSameListing, withKnownEntries } from './listing.ts';
import { completeAtOnce } from '../core/lib/complete-in-slices.ts';
import type { RawEntries } from './listing.ts';

const facts: ServerFacts = { era: 'legacy', protocol: '2025-11-25', info: { name: 's' }, capabilities: {} };
const about = { upstream: 's' as UpstreamName, config: 'config' as Fingerprint, at: 1 };
const read = (raw: Partial<RawEntries>) =>
  completeAtOnce(readListing({ facts, tools: [], prompts: [], resources: [], templates: [], ...raw }, about));
const schemaOf = (tool: object) => read({ tools: [tool] }).listing.tools[0]?.definition['inputSchema'];

describe('reading a listing', () => {
  test('read: keeps every definition unchanged, including unknown fields', () => {
    const tool = {
      name: 't',
      title: 'T',
      inputSchema: {
        type: 'object',
        properties: { n: { maximum: '\uE000exact:9223372036854775807' } },
        $defs: {},
      },
      annotations: { category: 'new', readOnlyHint: true },
      _meta: { 'a/b': [1, null] },
      unheardOf: { of: ['it'] },
    };
    const prompt = { name: 'p', arguments: [{ name: 'x' }], extra: 1 };
    const resource = { uri: 'a://b', name: 'r', size: 3 };
    const template = { uriTemplate: 'a://{b}', name: 'x', icons: [] };
    const { listing } = read({
      tools: [tool],
      prompts: [prompt],
      resources: [resource],
      templates: [template],
    });
    const definitions = [listing.tools, listing.prompts, listing.resources, listing.templates].map(
      (list) => list[0]?.definition,
    );
    expect(JSON.stringify(definitions)).toBe(JSON.stringify([tool, prompt, resource, template]));
  });

  test('read: reuses known entries that did not change', () => {
    const raw = { facts, prompts: [], resources: [], templates: [] };
    const schema = { type: 'object', properties: { a: { type: 'string' }, b: {} } };
    const known = completeAtOnce(
      readListing(
        { ...raw, tools: [{ name: 't', inputSchema: schema }, { name: 'u' }, { name: 'v' }] },
        about,
      ),
    ).listing;
    const tools = [
      { inputSchema: { properties: { b: {}, a: { type: 'string' } }, type: 'object' }, name: 't' },
      { name: 'u', title: 'other' },
      { name: 'w' },
    ];
    const now = completeAtOnce(readListing({ ...raw, tools }, about, known)).listing;
    expect(now.tools[0]).toBe(known.tools[0]);
    expect(now.tools.slice(1)).toEqual(
      completeAtOnce(readListing({ ...raw, tools }, about)).listing.tools.slice(1),
    );
    expect(now.tools.map(({ definition }) => definition.name)).toEqual(['t', 'u', 'w']);
  });

  test('read: keeps an entry that is nested too deeply to be compared', () => {
    const tool = (): unknown => ({
      name: 'a',
      x: JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`) as unknown,
    });
    const first = read({ tools: [tool()] }).listing;
    const again = completeAtOnce(
      readListing({ ...first, tools: [tool()], prompts: [], resources: [], templates: [] }, first, first),
    );
    expect(first.tools).toHaveLength(1);
    expect(again.listing.tools[0]?.fingerprint).toBe(first.tools[0]?.fingerprint);
    expect(again.unreadable).toBe(0);
  });

  test('read: skips and counts entries without a name or URI', () => {
    const { listing, unreadable } = read({
      tools: [{ name: 't' }, {}, { name: 1 }, null, 'x', []],
      prompts: [{ title: 'p' }],
      resources: [{ name: 'r' }],
      templates: [{ uri: 'a://b' }],
    });
    expect(unreadable).toBe(8);
    expect(listing.tools.map(({ definition }) => definition.name)).toEqual(['t']);
  });

  test('read: skips tools and prompts with names of more than 1,000 characters', () => {
    const [long, longest] = ['a'.repeat(1001), 'a'.repeat(1000)];
    const { listing, unreadable } = read({
      tools: [{ name: long }, { name: longest }],
      prompts: [{ name: long }, { name: longest }],
    });
    expect(unreadable).toBe(2);
    expect(listing.tools.map(({ definition }) => definition.name)).toEqual([longest]);
    expect(listing.prompts).toHaveLength(1);
  });

  test('read: keeps the first of several entries with the same name and counts the rest', () => {
    const { listing, duplicates } = read({
      tools: [{ name: 't', title: 'first' }, { name: 't', title: 'second' }, { name: 'u' }],
      resources: [{ uri: 'a://b' }, { uri: 'a://b' }],
    });
    expect(duplicates).toBe(2);
    expect(listing.tools.map(({ definition }) => definition['title'])).toEqual(['first', undefined]);
  });

  test('read: adds type "object" to an input schema without a type', () => {
    expect(schemaOf({ name: 't' })).toEqual({ type: 'object' });
    expect(schemaOf({ name: 't', inputSchema: null })).toEqual({ type: 'object' });
    expect(schemaOf({ name: 't', inputSchema: { $schema: 'x', properties: {} } })).toEqual({
      type: 'object',
      $schema: 'x',
      properties: {},
    });
    expect(schemaOf({ name: 't', inputSchema: { type: 'array' } })).toEqual({ type: 'array' });
  });

  test('read: skips an entry that is nested too deeply to be serialised', () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`);
    const { listing, unreadable } = read({ tools: [{ name: 'deep', inputSchema: deep }, { name: 'flat' }] });
    expect(unreadable).toBe(1);
    expect(listing.tools.map(({ definition }) => definition.name)).toEqual(['flat']);
  });

  test('read: gives equal definitions the same fingerprint regardless of key order', () => {
    const [one] = read({ tools: [{ name: 't', title: 'T', inputSchema: { type: 'object', a: 1 } }] }).listing
      .tools;
    const [other] = read({ tools: [{ inputSchema: { a: 1, type: 'object' }, title: 'T', name: 't' }] })
      .listing.tools;
    const [third] = read({ tools: [{ name: 't', title: 'U', inputSchema: { type: 'object', a: 1 } }] })
      .listing.tools;
    expect(one?.fingerprint).toMatch(/^[\w-]{22}$/);
    expect(other?.fingerprint).toBe(one?.fingerprint);
    expect(third?.fingerprint).not.toBe(one?.fingerprint);
  });
});

describe('comparing listings', () => {
  const first = read({ tools: [{ name: 'a' }, { name: 'b' }] }).listing;

  test('compare: ignores the time and detects changes of facts, config and entries', () => {
    const again = { ...read({ tools: [{ name: 'a' }, { name: 'b' }] }).listing, at: 2 };
    expect(isSameListing(first, again)).toBe(true);
    expect(isSameListing(first, { ...again, facts: { ...facts, instructions: 'New.' } })).toBe(false);
    expect(isSameListing(first, { ...again, config: 'other' as Fingerprint })).toBe(false);
    expect(isSameListing(first, read({ tools: [{ name: 'a' }] }).listing)).toBe(false);
    expect(isSameListing(first, read({ tools: [{ name: 'a' }, { name: 'b', x: 1 }] }).listing)).toBe(false);
  });

  test('compare: reuses the objects of an earlier listing where nothing changed', () => {
    const next = withKnownEntries(
      read({ tools: [{ name: 'c' }, { name: 'b' }, { name: 'a', x: 1 }] }).listing,
      first,
    );
    expect(next.tools.map(({ definition }) => definition.name)).toEqual(['c', 'b', 'a']);
    expect(next.tools[1]).toBe(first.tools[1]);
    expect(next.tools[2]).not.toBe(first.tools[0]);
  });

  test('stored listing: is recognised when valid and rejected when damaged', () => {
    const stored: unknown = JSON.parse(JSON.stringify(first));
    expect(isListing(stored)).toBe(true);
    for (const change of [
      { tools: [null] },
      { tools: [{ definition: {} }] },
      { facts: {} },
      { at: '1' },
      { prompts: {} },
    ]) {
      expect(isListing({ ...first, ...change })).toBe(false);
    }
    expect(isListing(null)).toBe(false);
  });
});
