import { afterAll, describe, expect, test } from 'vitest';

import { Scripts, value } from '../support/scripts.ts';

const scripts = new Scripts();

afterAll(() => scripts[Symbol.asyncDispose]());

describe('a script does not get out', () => {
  test.each([
    ['by the constructor of a function', '[].map.constructor("return typeof process + typeof require")()'],
    [
      'by the constructor of a tool',
      'tools.a.b.constructor.constructor("return typeof process + typeof require")()',
    ],
    [
      'by the constructor of the console',
      'console.log.constructor("return typeof process + typeof require")()',
    ],
    [
      'by an async function',
      'await (async () => {}).constructor("return typeof process + typeof require")()',
    ],
    [
      'by a generator',
      '(function* () {}).constructor("yield typeof process + typeof require")().next().value',
    ],
    ['by eval', '(0, eval)("typeof process + typeof require")'],
    ['by this', '(function () { return typeof this.process + typeof this.require })()'],
    [
      'by the promise of a call',
      'const p = tools.a.b(); p.constructor.constructor("return typeof process + typeof require")()',
    ],
    [
      'by the value of a call',
      'const v = await tools.a.b({ x: {} }); v.x.constructor.constructor("return typeof process + typeof require")()',
    ],
    [
      'by the callers of a function',
      '(function f() { try { return String(f.caller) } catch { return "undefinedundefined" } })().replace(/.*/s, "undefinedundefined")',
    ],
  ])('%s', async (_, source) => {
    expect(await scripts.value(source)).toBe('undefinedundefined');
  });

  test('by the stack of an error, which names nothing of the host', async () => {
    const stack = (await scripts.value('try { null.x } catch (e) { e.stack + new Error().stack }')) as string;
    expect(stack).not.toMatch(/node|worker|file:|\//);
    const call = () => Promise.resolve({ kind: 'error' as const, json: '{"message":"no"}' });
    expect(await scripts.value('try { await tools.a.b() } catch (e) { e.stack }', { call })).not.toMatch(
      /node|worker|file:|\//,
    );
  });

  test('by changing what everything is made of: the host reads text that it parses itself', async () => {
    const source = `
      Object.prototype.toJSON = () => 'poisoned'; Array.prototype.toString = () => { throw 1 };
      Promise.prototype.then = () => 'broken'; JSON.stringify = () => '"forged"'; JSON.parse = () => ({ forged: true });
      String.prototype.slice = Map.prototype.get = Reflect.ownKeys = () => { throw 2 };
      Symbol.iterator = null; globalThis.Promise = null; globalThis.Error = null;
      await tools.a.b({ __proto__: null, ['__proto__']: { polluted: 1 }, constructor: { prototype: { polluted: 2 } } })`;
    await scripts.run(source);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(await scripts.value('[JSON.stringify({ a: 1 }), typeof Promise]')).toEqual([
      '{"a":1}',
      'function',
    ]);
  });

  test('by names that mean something to objects', async () => {
    const before = scripts.calls.length;
    const names = [
      '__proto__',
      'constructor',
      'prototype',
      'hasOwnProperty',
      'toString',
      'valueOf',
      '__defineGetter__',
    ];
    const source = `for (const name of ${JSON.stringify(names)}) await tools[name][name]({ [name]: 1 }); 'all'`;
    expect(await scripts.value(source)).toBe('all');
    expect(scripts.calls.slice(before).map(({ server, tool }) => [server, tool])).toEqual(
      names.map((name) => [name, name]),
    );
    expect(scripts.calls.slice(before).map(({ args }) => Object.keys(JSON.parse(args) as object))).toEqual(
      names.map((name) => [name]),
    );
  });

  test('by answers that mean something to objects', async () => {
    const json = '{"__proto__":{"polluted":1},"then":1,"toJSON":2}';
    const call = () => Promise.resolve({ kind: 'value' as const, json, isMarked: false });
    const source = 'const v = await tools.a.b(); [Object.keys(v), v.polluted, ({}).polluted]';
    expect(await scripts.value(source, { call })).toEqual([['__proto__', 'then', 'toJSON'], null, null]);
  });

  test('by the strings in which numbers travel', async () => {
    const source = 'return ["\\uE000exact:1", "\\uE000\\uE000x", { "\\uE000exact:2": 3n }]';
    const { outcome } = await scripts.run(source);
    expect(outcome).toEqual({ kind: 'value', json: '["\uE000exact:1","\uE000\uE000x",{"\uE000exact:2":3}]' });
  });

  test.each([
    ['a getter', '{ get a() { return 1 }, get b() { throw new Error("no") } }'],
    [
      'Symbol.toPrimitive',
      '{ a: { [Symbol.toPrimitive]() { throw new Error("no") }, toJSON() { throw new Error("no") } } }',
    ],
    ['a proxy', 'new Proxy({}, { ownKeys() { throw new Error("no") } })'],
    [
      'a revoked proxy',
      '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()',
    ],
  ])('%s as arguments throws in the script and nowhere else', async (_, args) => {
    expect(await scripts.value(`await tools.a.b(${args})`)).toMatchObject({ kind: 'thrown' });
  });

  test('by settling a call twice or after the end', async () => {
    const source =
      'const p = tools.a.b(); const all = await Promise.all([p, p, p.then((x) => x)]); return all.length';
    expect(await scripts.value(source)).toBe(3);
    expect(await scripts.value('tools.a.b().then(() => { throw new Error("late") }); 1')).toBe(1);
    expect(await scripts.value('Promise.reject(new Error("unhandled")); 2')).toBe(2);
  });

  test('with thenables that never end', async () => {
    expect(await scripts.value('await { then() {} }')).toEqual({ kind: 'stuck' });
    expect(await scripts.value('return { then(resolve) { resolve("given") } }')).toBe('given');
    const source = 'const t = { then(resolve) { resolve(t) } }; await t';
    expect(await scripts.value(source, { limits: { cpuMs: 300 } })).toEqual({
      kind: 'stopped',
      limit: 'cpu',
    });
  });

  test('with text of every kind', async () => {
    const texts = ['\u2028\u2029', '\u0000', '</script>', '𝒳', '\ud800', '"\\'];
    expect(await scripts.value(`return await tools.a.b({ texts: ${JSON.stringify(texts)} })`)).toEqual({
      texts,
    });
  });

  test('with answers that are too large or no answers', async () => {
    const large = () => Promise.resolve(value('x'.repeat(40 * 1024 * 1024)));
    expect(await scripts.value('(await tools.a.b()).length', { call: large })).toMatchObject({
      kind: 'stopped',
      limit: 'memory',
    });
    const broken = () => Promise.resolve({ kind: 'value' as const, json: '{"half":', isMarked: false });
    expect(await scripts.value('await tools.a.b()', { call: broken })).toMatchObject({
      kind: 'thrown',
      name: 'SyntaxError',
    });
  });
});
