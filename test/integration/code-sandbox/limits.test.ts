import { afterAll, describe, expect, test } from 'vitest';

import { Cancellation } from '../../../src/core/lib/cancellation.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { ScriptRunner, scriptValue } from '../../support/script-runner.ts';

const scripts = new ScriptRunner();

afterAll(() => scripts[Symbol.asyncDispose]());

const short = { limits: { cpuMs: 300, timeoutMs: 10_000 } };

describe('CPU limit', () => {
  test.each([
    ['at the top level', 'for (;;);'],
    ['after an await', 'await null; while (true) {}'],
    ['in a promise job', 'Promise.resolve().then(() => { for (;;); }); await new Promise(() => {})'],
    [
      'of promise jobs',
      'const again = () => { Promise.resolve().then(again) }; again(); await new Promise(() => {})',
    ],
    ['of awaits', 'for (;;) await null'],
    ['in a timer', 'setTimeout(() => { for (;;); }); await new Promise(() => {})'],
    ['in a regular expression', '/^(a+)+$/.test("a".repeat(40) + "b")'],
    ['that catches every error', 'for (;;) { try { for (;;); } catch {} finally { continue } }'],
    ['in a getter of the result', 'return { get a() { for (;;); } }'],
    ['in toJSON of an argument', 'await tools.a.b({ toJSON() { for (;;); } })'],
    ['in a proxy of the result', 'return new Proxy({}, { ownKeys() { for (;;); } })'],
    ['in a thenable', 'await { then() { for (;;); } }'],
    ['in a generator', 'for (const x of (function* () { for (;;) yield 1 })());'],
    ['in an async generator', 'for await (const x of (async function* () { for (;;) yield 1 })());'],
    ['in toString of a thrown value', 'throw { toString() { for (;;); }, toJSON() { for (;;); } }'],
    ['in Symbol.toPrimitive', 'console.log(`${{ [Symbol.toPrimitive]() { for (;;); } }}`)'],
    ['in a sort comparator', '[3, 2, 1].sort(() => { for (;;); })'],
    ['in code compiled at run time', 'new Function("for (;;);")()'],
  ])('CPU limit: stops an endless loop %s', async (_, source) => {
    expect(await scripts.value(source, short)).toEqual({ kind: 'stopped', limit: 'cpu' });
  });

  test('CPU limit: stops a script whose time ends before its first statement', async () => {
    const limits = { cpuMs: -1, timeoutMs: 10_000 };
    expect(await scripts.value('await null; 1', { limits })).toEqual({ kind: 'stopped', limit: 'cpu' });
  });

  test('CPU limit: stops long native operations that the interpreter cannot interrupt', async () => {
    // Searching a long text is one step of the interpreter, and these steps would take minutes.
    const source =
      'const h = "a".repeat(8e6); const l = ["ab".repeat(50)]; [..."x".repeat(2000)].map(() => h.indexOf("ab"))';
    expect(await scripts.value(source, short)).toEqual({ kind: 'stopped', limit: 'cpu' });
  });
});

describe('memory limit', () => {
  test.each([
    ['lists', 'const all = []; for (;;) all.push(new Array(1000).fill(0))'],
    ['one string', '"x".repeat(2 ** 29).length'],
    ['a buffer', 'new Uint8Array(2 ** 30).length'],
    ['functions', 'const all = []; for (;;) all.push(() => all)'],
    ['promises', 'const all = []; for (;;) all.push(new Promise(() => {}))'],
    ['a chain of promises', 'const again = () => Promise.resolve().then(again); await again()'],
    ['its result', 'const a = "x".repeat(1e6); return new Array(1000).fill(a)'],
  ])('memory limit: stops a script that fills memory with %s', async (_, source) => {
    expect(await scripts.value(source)).toEqual({ kind: 'stopped', limit: 'memory' });
  });

  test('memory limit: a script that catches the error gets no more memory', async () => {
    const source = `const all = []; const counts = [];
      while (counts.length < 20) { try { for (;;) all.push(new Array(10000).fill(0)) } catch { counts.push(all.length) } }
      return counts`;
    const counts = (await scripts.value(source)) as number[];
    expect(counts).toHaveLength(20);
    // An element takes 8 bytes, and a script has 32 MiB.
    expect(Math.max(...counts) * 80_000).toBeLessThan(32 * 2 ** 20);
  });

  test('memory limit: a script that catches the error for ever is stopped by the CPU limit', async () => {
    const source =
      'const all = []; for (;;) { try { for (;;) all.push(new Array(10000).fill(0)) } catch {} }';
    expect(await scripts.value(source, short)).toEqual({ kind: 'stopped', limit: 'cpu' });
  });

  test('memory limit: is fresh for the next script', async () => {
    expect(await scripts.value('"x".repeat(8e6).length')).toBe(8e6);
  });
});

describe('recursion', () => {
  test.each([
    ['functions', 'const f = () => f() + 1; f()'],
    ['toString', 'const o = { toString: () => "" + o }; "" + o'],
    ['getters', 'const o = { get x() { return this.x } }; o.x'],
    ['replace callbacks', '"x".replace(/x/, function r() { return "x".replace(/x/, r) })'],
    ['nested proxies', 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x'],
    ['JSON.parse', 'JSON.parse("[".repeat(1e6))'],
    ['eval', 'eval("(".repeat(1e5))'],
    ['async functions', 'const f = async () => { await f() }; await f()'],
  ])('recursion: too deep a nesting in %s throws inside the script', async (_, source) => {
    expect(await scripts.value(source)).toMatchObject({ kind: 'thrown' });
  });

  test('recursion: deeply nested values do not crash the sandbox', async () => {
    const deep = 'let a = []; for (let i = 0; i < 1e5; i++) a = [a];';
    for (const source of [`${deep} return a`, `${deep} await tools.x.y({ a })`, `${deep} console.log(a)`])
      expect(await scripts.value(source, short)).not.toBeInstanceOf(Array);
  });

  test('recursion: a script can catch a stack overflow and continue', async () => {
    expect(await scripts.value('const f = () => f() + 1; try { f() } catch (e) { e.message }')).toBe(
      'stack overflow',
    );
  });

  test('recursion: deeply nested source is a script error and does not end the thread', async () => {
    for (const source of [
      '['.repeat(50_000),
      `${'('.repeat(50_000)}1${')'.repeat(50_000)}`,
      `const a: ${'Array<'.repeat(20_000)}`,
    ])
      expect(await scripts.value(source)).toMatchObject({ kind: 'thrown' });
  });
});

describe('other limits', () => {
  test('time limit: stops a script that waits', async () => {
    const call = () => new Promise<never>(() => {});
    const limits = { timeoutMs: 200 };
    expect(await scripts.value('await tools.a.b()', { call, limits })).toEqual({
      kind: 'stopped',
      limit: 'time',
    });
    expect(await scripts.value('await new Promise((r) => setTimeout(r, 1e9))', { limits })).toEqual({
      kind: 'stopped',
      limit: 'time',
    });
  });

  test('call limit: stops the script and does not make the excess call', async () => {
    const before = scripts.calls.length;
    const source = 'for (let i = 0; i < 100; i++) { try { await tools.a.b() } catch {} }';
    expect(await scripts.value(source, { limits: { maxCalls: 3 } })).toEqual({
      kind: 'stopped',
      limit: 'calls',
    });
    expect(scripts.calls.length - before).toBe(3);
    expect(
      await scripts.value('await Promise.all(Array.from({ length: 9 }, () => tools.a.b()))', {
        limits: { maxCalls: 3 },
      }),
    ).toEqual({ kind: 'stopped', limit: 'calls' });
    expect(scripts.calls.length - before).toBe(6);
  });

  test('argument limit: rejects calls while pending arguments are too large', async () => {
    const before = scripts.calls.length;
    const source = `const big = 'x'.repeat(4e6); const all = [1, 2, 3, 4, 5, 6].map(() => tools.a.b({ big }));
      return (await Promise.allSettled(all)).map(({ status }) => status).join()`;
    const call = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return scriptValue(1);
    };
    expect(await scripts.value(source, { call })).toBe(
      'fulfilled,fulfilled,fulfilled,rejected,rejected,rejected',
    );
    expect(scripts.calls.length - before).toBe(3);
  });

  test('console limit: truncates a million lines without failing the script', async () => {
    const { outcome, log, isLogCut } = await scripts.run(
      'for (let i = 0; i < 1e6; i++) console.log("line", i); "end"',
    );
    expect(outcome).toEqual({ kind: 'value', json: '"end"' });
    expect(isLogCut).toBe(true);
    expect(log.join('\n').length).toBeLessThanOrEqual(10_000);
    expect(log[0]).toBe('line 0');
  });

  test('console limit: truncates one long line', async () => {
    const { log, isLogCut } = await scripts.run('console.log("x".repeat(1e6)); console.log("more")');
    expect([log.join('').length, isLogCut]).toEqual([10_000, true]);
  });

  test('console: keeps the log of a stopped script', async () => {
    const { log, outcome } = await scripts.run('console.log("here"); for (;;);', short);
    expect([log, outcome.kind]).toEqual([['here'], 'stopped']);
  });

  test('script queue: queues scripts up to its limit, then rejects with SCRIPT_BUSY', async () => {
    await using few = new ScriptRunner({ maxScripts: 1, maxWaiting: 1 });
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const call = async () => {
      await held;
      return scriptValue(1);
    };
    const first = few.value('await tools.a.b()', { call });
    const second = few.value('2');
    await expect(few.value('3')).rejects.toMatchObject({ code: 'SCRIPT_BUSY' });
    const cancellation = new Cancellation();
    release();
    expect(await Promise.all([first, second])).toEqual([1, 2]);
    cancellation.cancel(new Error('early'));
    await expect(few.value('3', { cancellation })).rejects.toThrow('early');
  });
});

test('worker: a missing worker file is an internal error, not a memory limit', async () => {
  await using gone = new ScriptRunner({ worker: new URL('no-such-worker.js', import.meta.url) });
  await expect(gone.value('1')).rejects.toMatchObject({ code: 'INVARIANT' });
});

describe('external stop', () => {
  test('cancellation: stops a script that computes', async () => {
    const cancellation = new Cancellation();
    const call = () => {
      cancellation.cancel(new GatewayError('CALL_CANCELLED', 'enough'));
      return Promise.resolve(scriptValue(1));
    };
    await expect(scripts.run('tools.a.b(); for (;;);', { cancellation, call })).rejects.toThrow('enough');
  });

  test('main thread: stays responsive while a script computes', async () => {
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 5);
    await scripts.run('for (;;);', short);
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(10);
  });

  test('shutdown: ends all scripts and leaves no thread', async () => {
    const before = threads();
    const many = new ScriptRunner({ maxScripts: 3 });
    const running = [1, 2, 3].map((at) =>
      many
        .run('await tools.a.b(); for (;;);', { call: () => Promise.resolve(scriptValue(at)) })
        .catch((error: unknown) => error),
    );
    await eventually(() => many.calls.length === 3 || undefined);
    await many[Symbol.asyncDispose]();
    expect(await Promise.all(running)).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ code: 'SHUTTING_DOWN' })),
    );
    expect(threads()).toBeLessThanOrEqual(before);
    await expect(many.run('1')).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});

function threads(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'MessagePort' || name === 'Worker')
    .length;
}
