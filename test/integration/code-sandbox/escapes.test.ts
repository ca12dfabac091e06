import { afterAll, describe, expect, test } from 'vitest';

import { ScriptRunner, scriptValue } from '../../support/script-runner.ts';

const scripts = new ScriptRunner();

afterAll(() => scripts[Symbol.asyncDispose]());

describe('sandbox escapes', () => {
  test.each([
    ['the constructor of a function', '[].map.constructor("return typeof process + typeof require")()'],
    [
      'the constructor of a tool',
      'tools.a.b.constructor.constructor("return typeof process + typeof require")()',
    ],
    ['the constructor of console.log', 'console.log.constructor("return typeof process + typeof require")()'],
    [
      'the constructor of an async function',
      'await (async () => {}).constructor("return typeof process + typeof require")()',
    ],
    [
      'the constructor of a generator',
      '(function* () {}).constructor("yield typeof process + typeof require")().next().value',
    ],
    ['indirect eval', '(0, eval)("typeof process + typeof require")'],
    ['this in a function', '(function () { return typeof this.process + typeof this.require })()'],
    [
      'the promise of a call',
      'const p = tools.a.b(); p.constructor.constructor("return typeof process + typeof require")()',
    ],
    [
      'the result of a call',
      'const v = await tools.a.b({ x: {} }); v.x.constructor.constructor("return typeof process + typeof require")()',
    ],
    ['the caller of a function', '(function f() { return typeof f.caller + typeof f.arguments })()'],
    [
      'the caller of a callback from outside the script',
      'let seen; function f() { seen = typeof f.caller + typeof f.arguments; return {} }; await tools.a.b({ toJSON: f }); seen',
    ],
  ])('sandbox escape: %s reaches no host object', async (_, source) => {
    expect(await scripts.value(source)).toBe('undefinedundefined');
  });

  test('sandbox escape: error stacks contain no host paths', async () => {
    const stack = (await scripts.value('try { null.x } catch (e) { e.stack + new Error().stack }')) as string;
    expect(stack).not.toMatch(/node|worker|file:|\//);
    const call = () => Promise.resolve({ kind: 'error' as const, json: '{"message":"no"}' });
    expect(await scripts.value('try { await tools.a.b() } catch (e) { e.stack }', { call })).not.toMatch(
      /node|worker|file:|\//,
    );
  });

  test('sandbox escape: patched built-ins affect neither the host nor the next script', async () => {
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

  test('sandbox escape: names such as __proto__ and constructor are plain tool and argument names', async () => {
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

  test('sandbox escape: __proto__ in a tool result does not pollute prototypes', async () => {
    const json = '{"__proto__":{"polluted":1},"then":1,"toJSON":2}';
    const call = () => Promise.resolve({ kind: 'value' as const, json, isMarked: false });
    const source = 'const v = await tools.a.b(); [Object.keys(v), v.polluted, ({}).polluted]';
    expect(await scripts.value(source, { call })).toEqual([['__proto__', 'then', 'toJSON'], null, null]);
  });

  test('sandbox escape: strings that look like encoded numbers stay strings', async () => {
    const source = 'return ["\\uE000exact:1", "\\uE000\\uE000x", { "\\uE000exact:2": 3n }]';
    const { outcome } = await scripts.run(source);
    expect(outcome).toEqual({ kind: 'value', json: '["\uE000exact:1","\uE000\uE000x",{"\uE000exact:2":3}]' });
  });

  test.each([
    ['a throwing getter', '{ get a() { return 1 }, get b() { throw new Error("no") } }'],
    [
      'a throwing toJSON',
      '{ a: { [Symbol.toPrimitive]() { throw new Error("no") }, toJSON() { throw new Error("no") } } }',
    ],
    ['a throwing proxy', 'new Proxy({}, { ownKeys() { throw new Error("no") } })'],
    [
      'a revoked proxy',
      '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()',
    ],
  ])('sandbox escape: %s as arguments throws only inside the script', async (_, args) => {
    expect(await scripts.value(`await tools.a.b(${args})`)).toMatchObject({ kind: 'thrown' });
  });

  test('promises: may be awaited twice, or reject after the script ended', async () => {
    const source =
      'const p = tools.a.b(); const all = await Promise.all([p, p, p.then((x) => x)]); return all.length';
    expect(await scripts.value(source)).toBe(3);
    expect(await scripts.value('tools.a.b().then(() => { throw new Error("late") }); 1')).toBe(1);
    expect(await scripts.value('Promise.reject(new Error("unhandled")); 2')).toBe(2);
  });

  test('promises: a thenable is resolved, reported as stuck, or stopped by the CPU limit', async () => {
    expect(await scripts.value('await { then() {} }')).toEqual({ kind: 'stuck' });
    expect(await scripts.value('return { then(resolve) { resolve("given") } }')).toBe('given');
    const source = 'const t = { then(resolve) { resolve(t) } }; await t';
    expect(await scripts.value(source, { limits: { cpuMs: 300 } })).toEqual({
      kind: 'stopped',
      limit: 'cpu',
    });
  });

  test('strings: reach a tool and return unchanged, including lone surrogates', async () => {
    const texts = ['\u2028\u2029', '\u0000', '</script>', '𝒳', '\ud800', '"\\'];
    expect(await scripts.value(`return await tools.a.b({ texts: ${JSON.stringify(texts)} })`)).toEqual({
      texts,
    });
  });

  test('tool results: too large or malformed ones fail only the script', { tags: ['slow'] }, async () => {
    const large = () => Promise.resolve(scriptValue('x'.repeat(40 * 1024 * 1024)));
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
