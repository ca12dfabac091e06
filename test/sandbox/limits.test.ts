import { afterAll, describe, expect, test } from 'vitest';

import { Cancellation } from '../../src/lib/cancellation.ts';
import { GatewayError } from '../../src/model/errors.ts';
import { eventually } from '../support/eventually.ts';
import { Scripts, value } from '../support/scripts.ts';

const scripts = new Scripts();

afterAll(() => scripts[Symbol.asyncDispose]());

const short = { limits: { cpuMs: 300, timeoutMs: 10_000 } };

describe('a script that computes without end is stopped', () => {
  test.each([
    ['in a loop', 'for (;;);'],
    ['after an await', 'await null; while (true) {}'],
    ['in a job', 'Promise.resolve().then(() => { for (;;); }); await new Promise(() => {})'],
    ['in jobs without end', 'const again = () => Promise.resolve().then(again); await again()'],
    ['in an async loop', 'for (;;) await null'],
    ['in a timer', 'setTimeout(() => { for (;;); }); await new Promise(() => {})'],
    ['in an expression', '/^(a+)+$/.test("a".repeat(40) + "b")'],
    ['and catches', 'for (;;) { try { for (;;); } catch {} finally { continue } }'],
    ['in a getter of the result', 'return { get a() { for (;;); } }'],
    ['in toJSON of an argument', 'await tools.a.b({ toJSON() { for (;;); } })'],
    ['in a proxy of the result', 'return new Proxy({}, { ownKeys() { for (;;); } })'],
    ['in a thenable', 'await { then() { for (;;); } }'],
    ['in a generator', 'for (const x of (function* () { for (;;) yield 1 })());'],
    ['in an async generator', 'for await (const x of (async function* () { for (;;) yield 1 })());'],
    ['in the text of what it throws', 'throw { toString() { for (;;); }, toJSON() { for (;;); } }'],
    ['in Symbol.toPrimitive', 'console.log(`${{ [Symbol.toPrimitive]() { for (;;); } }}`)'],
    ['in sorting', '[3, 2, 1].sort(() => { for (;;); })'],
    ['in what was compiled later', 'new Function("for (;;);")()'],
  ])('%s', async (_, source) => {
    expect(await scripts.value(source, short)).toEqual({ kind: 'stopped', limit: 'cpu' });
  });

  test('where the interpreter itself does not look', async () => {
    // Searching a long text is one step of the interpreter, and these steps would take minutes.
    const source =
      'const h = "a".repeat(8e6); const l = ["ab".repeat(50)]; [..."x".repeat(2000)].map(() => h.indexOf("ab"))';
    expect(await scripts.value(source, short)).toEqual({ kind: 'stopped', limit: 'cpu' });
  });
});

describe('a script that wants too much memory is stopped', () => {
  test.each([
    ['in a list', 'const all = []; for (;;) all.push(new Array(1000).fill(0))'],
    ['in one text', '"x".repeat(2 ** 29).length'],
    ['in a buffer', 'new Uint8Array(2 ** 30).length'],
    ['in functions', 'const all = []; for (;;) all.push(() => all)'],
    ['in promises', 'const all = []; for (;;) all.push(new Promise(() => {}))'],
    ['in its result', 'const a = "x".repeat(1e6); return new Array(1000).fill(a)'],
  ])('%s', async (_, source) => {
    expect(await scripts.value(source)).toEqual({ kind: 'stopped', limit: 'memory' });
  });

  test('also when it catches', async () => {
    const source =
      'const all = []; for (;;) { try { for (;;) all.push(new Array(10000).fill(0)) } catch {} }';
    expect(await scripts.value(source, short)).toMatchObject({ kind: 'stopped' });
  });

  test('the next one has all of it again', async () => {
    expect(await scripts.value('"x".repeat(8e6).length')).toBe(8e6);
  });
});

describe('recursion ends in an error of the script', () => {
  test.each([
    ['of functions', 'const f = () => f() + 1; f()'],
    ['of conversions', 'const o = { toString: () => "" + o }; "" + o'],
    ['of getters', 'const o = { get x() { return this.x } }; o.x'],
    ['of replacements', '"x".replace(/x/, function r() { return "x".replace(/x/, r) })'],
    ['of proxies', 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x'],
    ['in JSON', 'JSON.parse("[".repeat(1e6))'],
    ['in the source of another', 'eval("(".repeat(1e5))'],
    ['of async functions', 'const f = async () => { await f() }; await f()'],
  ])('%s', async (_, source) => {
    expect(await scripts.value(source)).toMatchObject({ kind: 'thrown' });
  });

  test('of values ends as well', async () => {
    const deep = 'let a = []; for (let i = 0; i < 1e5; i++) a = [a];';
    for (const source of [`${deep} return a`, `${deep} await tools.x.y({ a })`, `${deep} console.log(a)`])
      expect(await scripts.value(source, short)).not.toBeInstanceOf(Array);
  });

  test('that the script can catch, and go on', async () => {
    expect(await scripts.value('const f = () => f() + 1; try { f() } catch (e) { e.message }')).toBe(
      'stack overflow',
    );
  });

  test('and deep source is an error, not the end of the thread', async () => {
    for (const source of [
      '['.repeat(50_000),
      `${'('.repeat(50_000)}1${')'.repeat(50_000)}`,
      `const a: ${'Array<'.repeat(20_000)}`,
    ])
      expect(await scripts.value(source)).toMatchObject({ kind: 'thrown' });
  });
});

describe('other limits', () => {
  test('time ends a script that waits', async () => {
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

  test('one call too many ends a script, and is not made', async () => {
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

  test('arguments that would fill the memory of the gateway are refused', async () => {
    const before = scripts.calls.length;
    const source = `const big = 'x'.repeat(4e6); const all = [1, 2, 3, 4, 5, 6].map(() => tools.a.b({ big }));
      return (await Promise.allSettled(all)).map(({ status }) => status).join()`;
    const call = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return value(1);
    };
    expect(await scripts.value(source, { call })).toBe(
      'fulfilled,fulfilled,fulfilled,rejected,rejected,rejected',
    );
    expect(scripts.calls.length - before).toBe(3);
  });

  test('a million lines in the console are cut and do no harm', async () => {
    const { outcome, log, isLogCut } = await scripts.run(
      'for (let i = 0; i < 1e6; i++) console.log("line", i); "end"',
    );
    expect(outcome).toEqual({ kind: 'value', json: '"end"' });
    expect(isLogCut).toBe(true);
    expect(log.join('\n').length).toBeLessThanOrEqual(10_000);
    expect(log[0]).toBe('line 0');
  });

  test('one long line in the console is cut', async () => {
    const { log, isLogCut } = await scripts.run('console.log("x".repeat(1e6)); console.log("more")');
    expect([log.join('').length, isLogCut]).toEqual([10_000, true]);
  });

  test('what was logged before a script was stopped is not lost', async () => {
    const { log, outcome } = await scripts.run('console.log("here"); for (;;);', short);
    expect([log, outcome.kind]).toEqual([['here'], 'stopped']);
  });

  test('too many scripts wait, and then are refused', async () => {
    await using few = new Scripts({ maxScripts: 1, maxWaiting: 1 });
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const call = async () => {
      await held;
      return value(1);
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

test('a thread that is not there is no matter of memory', async () => {
  await using gone = new Scripts({ worker: new URL('no-such-worker.js', import.meta.url) });
  await expect(gone.value('1')).rejects.toMatchObject({ code: 'INVARIANT' });
});

describe('an end from outside', () => {
  test('cancels a script that computes, at once', async () => {
    const cancellation = new Cancellation();
    const call = () => {
      cancellation.cancel(new GatewayError('CALL_CANCELLED', 'enough'));
      return Promise.resolve(value(1));
    };
    await expect(scripts.run('tools.a.b(); for (;;);', { cancellation, call })).rejects.toThrow('enough');
  });

  test('the main thread goes on while a script computes', async () => {
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 5);
    await scripts.run('for (;;);', short);
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(10);
  });

  test('of everything ends all scripts and leaves no thread', async () => {
    const before = threads();
    const many = new Scripts({ maxScripts: 3 });
    const running = [1, 2, 3].map((at) =>
      many
        .run('await tools.a.b(); for (;;);', { call: () => Promise.resolve(value(at)) })
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
