import { afterAll, describe, expect, test } from 'vitest';

import { ScriptRunner, scriptValue } from '../../support/script-runner.ts';

const scripts = new ScriptRunner();

afterAll(() => scripts[Symbol.asyncDispose]());

describe('script results', () => {
  test.each([
    ['the last expression', 'const a = 2; a * 3', 6],
    ['the last expression after an await', 'const a = await Promise.resolve(2); a * 3', 6],
    ['the returned value', 'if (true) { return { a: [1, null] } }', { a: [1, null] }],
    ['the returned value after an await', 'const x = await 5;\nreturn x + 1', 6],
    ['the value of a nested promise', 'Promise.resolve(Promise.resolve("deep"))', 'deep'],
    ['the return value of a function expression', 'async () => { await null; return 7 }', 7],
    ['undefined without an expression', 'let a = 1;', undefined],
    ['a list of pairs for a Map', 'return new Map([["a", 1]])', [['a', 1]]],
    [
      'name and message for an Error',
      'Promise.allSettled([Promise.reject(new TypeError("no"))])',
      [{ status: 'rejected', reason: { name: 'TypeError', message: 'no' } }],
    ],
  ])('script result: is %s', async (_, source, expected) => {
    expect(await scripts.value(source)).toEqual(expected);
  });

  test('script result: keeps integers of any size', async () => {
    const { outcome } = await scripts.run('return { id: 9223372036854775807n, text: "9n" }');
    expect(outcome).toEqual({ kind: 'value', json: '{"id":9223372036854775807,"text":"9n"}' });
  });
});

describe('TypeScript', () => {
  test.each([
    [
      'type annotations',
      'const a: number = 1; interface X { b: string }; type Y = X | null; a as unknown',
      1,
    ],
    ['generic functions', 'function id<T>(x: T): T { return x }; id<number>(4)', 4],
    ['type arguments as the only TypeScript syntax', 'const id = (x) => x; id<number>(4)', 4],
    ['enums', 'enum Colour { red = 3 }; return Colour.red', 3],
    [
      'comparisons that look like type arguments',
      'const [a, b, c] = [1, 2, 3]; return a < b && c > (b)',
      true,
    ],
  ])('TypeScript: accepts %s', async (_, source, expected) => {
    expect(await scripts.value(source)).toBe(expected);
  });
});

describe('script errors', () => {
  test.each([
    ['a syntax error', 'const a = 1;\n\nlet b = ;', { name: 'SyntaxError', line: 3 }],
    ['a syntax error between types', 'const a: number = 1;\n\nlet b: = ;', { name: 'SyntaxError', line: 3 }],
    [
      'a syntax error next to a return',
      'let x = 1;\nlet y = = 2;\nreturn x',
      { name: 'SyntaxError', line: 2 },
    ],
    [
      'a runtime error',
      'const a = 1;\nnope();',
      { name: 'ReferenceError', message: "'nope' is not defined", line: 2 },
    ],
    [
      'a runtime error after types',
      'const a: number = 1;\nconst b: any = null;\nb.c;',
      { name: 'TypeError', line: 3 },
    ],
    [
      'an error thrown next to a return',
      'let a = 1;\nthrow new RangeError("far");\nreturn a',
      { message: 'far', line: 2 },
    ],
  ])('script error: reports the line of %s', async (_, source, expected) => {
    expect(await scripts.value(source)).toMatchObject({ kind: 'thrown', ...expected });
  });

  test.each([
    ['null', 'throw null', 'null'],
    ['undefined', 'throw undefined', 'undefined'],
    ['a symbol', 'throw Symbol("s")', 'Symbol(s)'],
    ['an object', 'throw { a: 1 }', '{"a":1}'],
    [
      'an object that cannot be printed',
      'throw { toJSON() { throw 1 }, toString() { throw 2 } }',
      '[cannot be shown]',
    ],
    [
      'a proxy',
      'throw new Proxy({}, { get() { throw 3 }, getPrototypeOf() { throw 4 } })',
      '[cannot be shown]',
    ],
    ['a rejected promise', 'await Promise.reject("late")', 'late'],
    ['a function', 'throw function named() {}', '[function named]'],
  ])('script error: describes a thrown value: %s', async (_, source, message) => {
    expect(await scripts.value(source)).toMatchObject({ kind: 'thrown', message });
  });

  test('script error: survives an error whose message getter throws', async () => {
    const source =
      'const e = new Error("x"); Object.defineProperty(e, "message", { get() { throw 1 } }); throw e';
    expect(await scripts.value(source)).toMatchObject({ kind: 'thrown' });
  });

  test('script error: rejects a cyclic result', async () => {
    expect(await scripts.value('const a = {}; a.a = a; return a')).toMatchObject({
      kind: 'thrown',
      name: 'TypeError',
    });
  });

  test('script error: reports a script that awaits a promise that never settles', async () => {
    expect(await scripts.value('await new Promise(() => {})')).toEqual({ kind: 'stuck' });
  });
});

describe('script environment', () => {
  test('console: logs values of any type', async () => {
    const { log } = await scripts.run(
      'console.log("a", 1, { b: [2] }, null, undefined, 3n); console.error(new Error("e")); const c = {}; c.c = c; console.warn(c, Symbol.iterator, () => 1)',
    );
    expect(log).toEqual([
      'a 1 {"b":[2]} null undefined 3n',
      'Error: e',
      '[cannot be shown] Symbol(Symbol.iterator) [function ]',
    ]);
  });

  test('timers: run in order and can be cleared', async () => {
    // A busy machine may pause between two statements; a timer that is set later is then due later.
    const source = `const at = [];
      await new Promise((resolve) => { setTimeout(() => { at.push(2); resolve() }, 1000); setTimeout((x) => at.push(x), 0, 1); clearTimeout(setTimeout(() => at.push(9), 1)) });
      return at`;
    expect(await scripts.value(source)).toEqual([1, 2]);
  });

  test('timers: end with the script if not awaited', async () => {
    expect(await scripts.value('setTimeout(() => { for (;;); }, 5000); 1')).toBe(1);
  });

  test('globals: exclude host APIs, and modules cannot be imported', async () => {
    const names = [
      'process',
      'require',
      'fetch',
      'Buffer',
      'WebAssembly',
      'XMLHttpRequest',
      'Worker',
      'navigator',
      'std',
      'os',
      'scriptArgs',
      'print',
      'module',
      'exports',
      '__filename',
      'setInterval',
      'setImmediate',
      'queueMicrotask',
    ];
    expect(
      await scripts.value(
        `${JSON.stringify(names)}.filter((name) => typeof globalThis[name] !== 'undefined')`,
      ),
    ).toEqual([]);
    expect(await scripts.value('await import("node:fs")')).toMatchObject({ kind: 'thrown' });
    expect(await scripts.value('import fs from "fs"; fs')).toMatchObject({ kind: 'thrown' });
  });

  test('globals: changes of one script do not reach the next', async () => {
    await scripts.value(
      'globalThis.left = 1; Object.prototype.left = 2; Array.prototype.map = () => "broken"; tools = null; 1',
    );
    expect(await scripts.value('[typeof left, ({}).left, [1].map((x) => x), typeof tools]')).toEqual([
      'undefined',
      null,
      [1],
      'object',
    ]);
  });
});

describe('tools', () => {
  test('tool call: works by server and name, by exposed name, and with brackets', async () => {
    const source = `return await Promise.all([
      tools.github.create_issue({ a: 1 }), tools.github__create_issue({ b: 2 }), tools['my-server']['odd name!']({ c: 3 }),
      tools.github.create_issue.raw({ d: 4 }), tools.github__create_issue.raw({ e: 5 }), tools.plain.none(),
    ])`;
    const before = scripts.calls.length;
    expect(
      await scripts.value(source, {
        names: { github: ['create_issue'], 'my-server': ['odd name!'], plain: [] },
      }),
    ).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }, { d: 4 }, { e: 5 }, {}]);
    expect(scripts.calls.slice(before).map(({ server, tool, raw }) => [server, tool, raw])).toEqual([
      ['github', 'create_issue', false],
      [undefined, 'github__create_issue', false],
      ['my-server', 'odd name!', false],
      ['github', 'create_issue', true],
      [undefined, 'github__create_issue', true],
      ['plain', 'none', false],
    ]);
  });

  test('tool call: runs in parallel with others', async () => {
    let open = 0;
    let most = 0;
    let release = (): void => {};
    const allThere = new Promise<void>((resolve) => (release = resolve));
    const call = async () => {
      open += 1;
      most = Math.max(most, open);
      if (open === 5) release();
      await allThere;
      open -= 1;
      return scriptValue(1);
    };
    expect(
      await scripts.value('(await Promise.all([1, 2, 3, 4, 5].map(() => tools.a.b()))).length', { call }),
    ).toBe(5);
    expect(most).toBe(5);
  });

  test('tool call: throws a ToolError with the message and code of the tool', async () => {
    const call = () =>
      Promise.resolve({
        kind: 'error' as const,
        json: '{"message":"no such repo","code":"X","tool":"a__b"}',
      });
    const caught =
      'try { await tools.a.b() } catch (e) { [e instanceof Error, e instanceof ToolError, e.name, e.message, e.code, e.tool] }';
    expect(await scripts.value(caught, { call })).toEqual([
      true,
      true,
      'ToolError',
      'no such repo',
      'X',
      'a__b',
    ]);
    expect(await scripts.value('let a;\nawait tools.a.b()', { call })).toMatchObject({
      kind: 'thrown',
      name: 'ToolError',
      message: 'no such repo',
    });
  });

  test('tools object: can be listed, but neither awaited nor changed by mistake', async () => {
    const names = { github: ['create_issue', 'raw'], files: [] };
    expect(
      await scripts.value(
        '[Object.keys(tools), Object.keys(tools.github), "github" in tools, "nope" in tools, "raw" in tools.github]',
        { names },
      ),
    ).toEqual([['github', 'files'], ['create_issue', 'raw'], true, false, true]);
    expect(
      await scripts.value(
        'const t = await tools; const g = await tools.github; [typeof t, typeof g.x, JSON.stringify(tools.github)]',
        { names },
      ),
    ).toEqual(['object', 'function', null]);
    expect(await scripts.value('"use strict"; tools.github.create_issue = 1', { names })).toMatchObject({
      kind: 'thrown',
      name: 'TypeError',
    });
    expect(
      await scripts.value(
        'for (const k in tools) console.log(k); delete tools.github; Object.keys(tools).length',
        { names },
      ),
    ).toBe(2);
  });

  test('tool call: accepts exactly one object', async () => {
    for (const args of ['1', '"x"', '[1]', '{}, {}', '() => 1', 'new Date()'])
      expect(await scripts.value(`await tools.a.b(${args})`)).toMatchObject({
        kind: 'thrown',
        name: 'TypeError',
      });
  });

  test('tool call: keeps integers of any size in arguments and results', async () => {
    const call = () =>
      Promise.resolve({
        kind: 'value' as const,
        json: '{"id":"\uE000exact:9223372036854775807","odd":"\uE000\uE000x"}',
        isMarked: true,
      });
    const source =
      'const { id, odd } = await tools.a.b({ id: 12345678901234567890n }); [typeof id, String(id), odd.length]';
    expect(await scripts.value(source, { call })).toEqual(['bigint', '9223372036854775807', 2]);
    expect(scripts.calls.at(-1)?.args).toBe('{"id":12345678901234567890}');
  });

  test('tool call: finishes before the script ends, even if not awaited', async () => {
    let isFinished = false;
    const call = async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      isFinished = true;
      return scriptValue(1);
    };
    expect(await scripts.value('tools.a.b(); "done"', { call })).toBe('done');
    expect(isFinished).toBe(true);
  });
});
