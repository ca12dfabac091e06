import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { ALL_CAPABILITIES, DeclaredCapabilities, passedCapabilities } from './declared-capabilities.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const apps = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

describe('declared capabilities', () => {
  test('declared capabilities: are everything until a client is known', async () => {
    const declared = new DeclaredCapabilities(1000);
    expect(declared.capabilities).toBe(ALL_CAPABILITIES);
    await vi.advanceTimersByTimeAsync(1000);
    await declared.settled;
    expect(declared.capabilities).toBe(ALL_CAPABILITIES);
  });

  test('declared capabilities: are those of the first client, for which servers wait', async () => {
    const declared = new DeclaredCapabilities(1e9);
    expect(declared.add({})).toBe(true);
    await declared.settled;
    expect(declared.capabilities).toEqual({});
    expect(vi.getTimerCount()).toBe(0);
  });

  test('declared capabilities: grow with every client that supports more', () => {
    const declared = new DeclaredCapabilities(1000);
    declared.add({ roots: {} });
    expect(declared.add({ roots: { listChanged: true } })).toBe(false);
    expect(declared.add({ sampling: {} })).toBe(true);
    expect(declared.capabilities).toEqual({ roots: {}, sampling: {} });
  });

  test.each([
    [{ elicitation: {} }, { elicitation: { form: {} } }],
    [{ elicitation: { form: {} } }, { elicitation: { form: {} } }],
    [{ elicitation: { url: {} } }, { elicitation: { url: {} } }],
    [{ elicitation: { form: {}, url: {} } }, { elicitation: { form: {}, url: {} } }],
    [{ roots: true, sampling: null, elicitation: [] }, {}],
    [{ experimental: { 'a/b': {} }, tasks: {}, extensions: { 'x/y': {} } }, {}],
    [{ extensions: { 'io.modelcontextprotocol/ui': {} } }, { extensions: apps }],
  ])('declared capabilities: of a client with %j are %j', (client, passed) => {
    expect(passedCapabilities(client)).toEqual(passed);
  });
});
