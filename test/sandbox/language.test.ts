import { afterAll, describe, expect, test } from 'vitest';

import { Scripts, value } from '../support/scripts.ts';

const scripts = new Scripts();

afterAll(() => scripts[Symbol.asyncDispose]());

describe('the result of a script', () => {
  test.each([
    ['the last expression', 'const a = 2; a * 3', 6],
    ['the last expression after an await', 'const a = await Promise.resolve(2); a * 3', 6],
    ['what it returns', 'if (true) { return { a: [1, null] } }', { a: [1, null] }],
    ['what it returns after an await', 'const x = await 5;\nreturn x + 1', 6],
    ['what its last promise gives', 'Promise.resolve(Promise.resolve("deep"))', 'deep'],
    ['what its function gives', 'async () => { await null; return 7 }', 7],
    ['nothing', 'let a = 1;', undefined],
    ['a list for a map', 'return new Map([["a", 1]])', [['a', 1]]],
    [
      'errors with their text',
      'Promise.allSettled([Promise.reject(new TypeError("no"))])',
      [{ status: 'rejected', reason: { name: 'TypeError', message: 'no' } }],
    ],
  ])('is %s', async (_, source, expected) => {
    expect(await scripts.value(source)).toEqual(expected);
  });

  test('keeps whole numbers of any size', async () => {
    const { outcome } = await scripts.run('return { id: 9223372036854775807n, text: "9n" }');
    expect(outcome).toEqual({ kind: 'value', json: '{"id":9223372036854775807,"text":"9n"}' });
  });
});

describe('TypeScript', () => {
  test.each([
    ['types', 'const a: number = 1; interface X { b: string }; type Y = X | null; a as unknown', 1],
    ['type arguments', 'function id<T>(x: T): T { return x }; id<number>(4)', 4],
    ['only type arguments', 'const id = (x) => x; id<number>(4)', 4],
    ['enums', 'enum Colour { red = 3 }; return Colour.red', 3],
    ['comparisons that look like types', 'const [a, b, c] = [1, 2, 3]; return a < b && c > (b)', true],
  ])('is taken: %s', async (_, source, expected) => {
    expect(await scripts.value(source)).toBe(expected);
  });
});

describe('mistakes', () => {
  test.each([
    ['of syntax', 'const a = 1;\n\nlet b = ;', { name: 'SyntaxError', line: 3 }],
    ['of syntax among types', 'const a: number = 1;\n\nlet b: = ;', { name: 'SyntaxError', line: 3 }],
    ['of syntax beside a return', 'let x = 1;\nlet y = = 2;\nreturn x', { name: 'SyntaxError', line: 2 }],
    [
      'in the run',
      'const a = 1;\nnope();',
      { name: 'ReferenceError', message: "'nope' is not defined", line: 2 },
    ],
    ['after types', 'const a: number = 1;\nconst b: any = null;\nb.c;', { name: 'TypeError', line: 3 }],
    ['in a function body', 'let a = 1;\nthrow new RangeError("far");\nreturn a', { message: 'far', line: 2 }],
  ])('%s are told with the line', async (_, source, expected) => {
    expect(await scripts.value(source)).toMatchObject({ kind: 'thrown', ...expected });
  });

  test.each([
    ['null', 'throw null', 'null'],
    ['nothing', 'throw undefined', 'undefined'],
    ['a symbol', 'throw Symbol("s")', 'Symbol(s)'],
    ['an object', 'throw { a: 1 }', '{"a":1}'],
    ['what cannot be shown', 'throw { toJSON() { throw 1 }, toString() { throw 2 } }', '[cannot be shown]'],
    [
      'a proxy',
      'throw new Proxy({}, { get() { throw 3 }, getPrototypeOf() { throw 4 } })',
      '[cannot be shown]',
    ],
    ['a rejected promise', 'await Promise.reject("late")', 'late'],
    ['a function', 'throw function named() {}', '[function named]'],
  ])('thrown strangely are told: %s', async (_, source, message) => {
    expect(await scripts.value(source)).toMatchObject({ kind: 'thrown', message });
  });

  test('in an error itself are told as well as they can be', async () => {
    const source =
      'const e = new Error("x"); Object.defineProperty(e, "message", { get() { throw 1 } }); throw e';
    expect(await scripts.value(source)).toMatchObject({ kind: 'thrown' });
  });

  test('a result that is cyclic is one', async () => {
    expect(await scripts.value('const a = {}; a.a = a; return a')).toMatchObject({
      kind: 'thrown',
      name: 'TypeError',
    });
  });

  test('a script that waits for nothing is told so at once', async () => {
    expect(await scripts.value('await new Promise(() => {})')).toEqual({ kind: 'stuck' });
  });
});

describe('what scripts find', () => {
  test('the console writes into the answer, whatever it is given', async () => {
    const { log } = await scripts.run(
      'console.log("a", 1, { b: [2] }, null, undefined, 3n); console.error(new Error("e")); const c = {}; c.c = c; console.warn(c, Symbol.iterator, () => 1)',
    );
    expect(log).toEqual([
      'a 1 {"b":[2]} null undefined 3n',
      'Error: e',
      '[cannot be shown] Symbol(Symbol.iterator) [function ]',
    ]);
  });

  test('timers run', async () => {
    const source = `const at = [];
      await new Promise((resolve) => { setTimeout(() => { at.push(2); resolve() }, 20); setTimeout((x) => at.push(x), 0, 1); clearTimeout(setTimeout(() => at.push(9), 1)) });
      return at`;
    expect(await scripts.value(source)).toEqual([1, 2]);
  });

  test('a timer that nobody waits for ends with the script', async () => {
    expect(await scripts.value('setTimeout(() => { for (;;); }, 5000); 1')).toBe(1);
  });

  test('nothing of the host', async () => {
    const names = [
      'process',
      'require',
      'fetch',
      'Buffer',
      'WebAssembly',
      'XMLHttpRequest',
      'Worker',
      'SharedArrayBuffer',
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
    ).toEqual(
      expect.not.arrayContaining(
        names.filter((name) => !['SharedArrayBuffer', 'queueMicrotask'].includes(name)),
      ),
    );
    expect(await scripts.value('await import("node:fs")')).toMatchObject({ kind: 'thrown' });
    expect(await scripts.value('import fs from "fs"; fs')).toMatchObject({ kind: 'thrown' });
  });

  test('nothing of the script before', async () => {
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
  test('are called by server and name, by exposed name, and with brackets', async () => {
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

  test('run in parallel', async () => {
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
      return value(1);
    };
    expect(
      await scripts.value('(await Promise.all([1, 2, 3, 4, 5].map(() => tools.a.b()))).length', { call }),
    ).toBe(5);
    expect(most).toBe(5);
  });

  test('throw what the tool said', async () => {
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

  test('can be listed, and neither awaited nor changed by mistake', async () => {
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

  test('take one object', async () => {
    for (const args of ['1', '"x"', '[1]', '{}, {}', '() => 1', 'new Date()'])
      expect(await scripts.value(`await tools.a.b(${args})`)).toMatchObject({
        kind: 'thrown',
        name: 'TypeError',
      });
  });

  test('carry whole numbers of any size both ways', async () => {
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

  test('that nobody waited for are finished before the answer', async () => {
    let isFinished = false;
    const call = async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      isFinished = true;
      return value(1);
    };
    expect(await scripts.value('tools.a.b(); "done"', { call })).toBe('done');
    expect(isFinished).toBe(true);
  });
});
