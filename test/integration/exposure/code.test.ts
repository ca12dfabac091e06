import { readdirSync } from 'node:fs';

import { expect } from 'vitest';

import { gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import type { JsonObject, ToolResult } from '../../support/raw-messages.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

const config = { startup: { listWait: '60s' } };
const coding = { args: ['--expose', 'code'], config };

function run(client: RawClient, code: string, options: { signal?: AbortSignal } = {}): Promise<ToolResult> {
  return client.callTool('run_code', { code }, { withinMs: 20_000, ...options });
}

async function value(client: RawClient, code: string): Promise<unknown> {
  const result = await run(client, code);
  expect(result.isError, textOfResult(result)).not.toBe(true);
  return JSON.parse(textOfResult(result));
}

scenario(
  'code exposure: offers search, type declarations and scripts that call tools',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], 'two-2': ['structured'] }, coding);
    const { client } = line;
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'search_tools',
      'describe_tools',
      'run_code',
      'read_result',
    ]);
    expect(tools[2]).toMatchObject({ annotations: { readOnlyHint: false, destructiveHint: true } });
    const hits = textOfResult(await client.callTool('search_tools', { query: 'add two numbers' }));
    expect(hits.split('\n')[0]).toBe('one__add(a: number, b: number) [read]');
    const types = textOfResult(
      await client.callTool('describe_tools', { names: ['one__add', 'two-2.fits', 'one.nope'] }),
    );
    expect(types).toContain('add(args: {\n      a: number;\n      b: number;\n    }): Promise<any>;');
    expect(types).toContain('"two-2": {');
    expect(types).toContain('// one.nope: Unknown tool.');
    const script = `
    const sums: number[] = (await Promise.all([1, 2, 3].map((a) => tools.one.add({ a, b: 10 })))).map(Number);
    console.log('sums', sums);
    const { city } = await tools.one.structured({ city: 'Brno' });
    const person = await tools.two_2.fits();
    const raw = await tools['two-2'].fits.raw({});
    return { sums, city, person, text: raw.content[0].text, pid: typeof (await tools.one__pid()).pid };`;
    const result = await run(client, script);
    expect(JSON.parse(result.content[0]?.text ?? '')).toEqual({
      sums: [11, 12, 13],
      city: 'Brno',
      person: { name: 'Ada', age: 36 },
      text: '{"name":"Ada","age":36}',
      pid: 'number',
    });
    expect(result.content[1]?.text).toBe('console:\nsums [11,12,13]');
    // Images stay images.
    const passed = await run(client, "return await tools.one['everything-content'].raw()");
    expect(passed.content.map(({ type }) => type)).toContain('image');
  },
);

scenario(
  'script: gets tool errors, unknown names and invalid arguments as exceptions',
  { downstream: ['stdio/legacy', 'http/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, coding);
    const { client } = line;
    const caught = (call: string): string =>
      `try { await ${call}; 'fine' } catch (e) { [e.name, e.message, e.code] }`;
    expect(await value(client, caught('tools.one.fail()'))).toEqual(['ToolError', 'The tool failed.', null]);
    expect(await value(client, caught("tools.one['rpc-error']()"))).toEqual([
      'ToolError',
      'The server failed.',
      -32050,
    ]);
    const [, unknownTool, code] = (await value(client, caught('tools.one.ecco()'))) as string[];
    expect([unknownTool, code]).toEqual([expect.stringContaining('Did you mean "echo"'), 'ENTRY_NOT_FOUND']);
    expect((await value(client, caught('tools.onne.echo()'))) as string[]).toContainEqual(
      expect.stringContaining('There is no server "onne". Did you mean "one"'),
    );
    expect((await value(client, caught('tools.one__ecco()'))) as string[]).toContainEqual(
      expect.stringContaining('Did you mean "one__echo"'),
    );
    const [, misfit, why] = (await value(client, caught('tools.one.add({ a: "x", b: 1 })'))) as string[];
    expect([misfit, why]).toEqual([expect.stringContaining('do not fit one__add'), 'ARGUMENTS_INVALID']);
    const thrown = await run(client, 'const a = 1;\nawait tools.one.fail();');
    expect([gatewayErrorCode(thrown), textOfResult(thrown)]).toEqual([
      'SCRIPT_FAILED',
      'ToolError: The tool failed. (line 2)',
    ]);
    const wrong = await run(client, 'const a = 1;\nlet b: number = ;');
    expect([gatewayErrorCode(wrong), textOfResult(wrong)]).toEqual([
      'SCRIPT_FAILED',
      expect.stringMatching(/^SyntaxError: .*\(line 2\)$/),
    ]);
    expect(gatewayErrorCode(await client.callTool('run_code', {}))).toBe('ARGUMENTS_INVALID');
    expect(gatewayErrorCode(await run(client, `"${'x'.repeat(300_000)}"`))).toBe('ARGUMENTS_INVALID');
  },
);

scenario(
  'script: passes elicitations of its calls to the client',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    const capabilities = { elicitation: { form: {} } };
    // Shorter than a person takes to answer, so that time must not count.
    const limits = { ...config, code: { timeout: '5s' } };
    await using line = await cell.open(
      { one: ['asks-the-user'] },
      { ...coding, config: limits, capabilities },
    );
    const { client } = line;
    const answer = { action: 'accept', content: { name: 'Ada' } };
    const isSlow = ['stdio/legacy → stdio/legacy', 'http/modern → stdio/modern'].includes(
      `${cell.downstream} → ${cell.upstream}`,
    );
    const thinksMs = isSlow ? 6000 : 0;
    const think = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, thinksMs));
    client.answers('elicitation/create', async () => {
      await think();
      return answer;
    });
    const code =
      "const { mark, answers } = await tools.one['ask-form']({ mark: 'm' }); return [mark, JSON.stringify(answers)]";
    const params = { name: 'run_code', arguments: { code } };
    let result: JsonObject = await client.request('tools/call', params, { withinMs: 20_000 });
    if (client.era === 'modern') {
      expect(result['resultType']).toBe('input_required');
      await think();
      const questions = Object.keys(result['inputRequests'] as object);
      const inputResponses = Object.fromEntries(questions.map((key) => [key, answer]));
      const { requestState } = result;
      result = await client.request(
        'tools/call',
        { ...params, inputResponses, requestState },
        { withinMs: 20_000 },
      );
    }
    const [mark, answers] = JSON.parse(textOfResult(result as unknown as ToolResult)) as string[];
    expect([mark, answers]).toEqual(['m', expect.stringContaining('Ada')]);
  },
);

scenario(
  "script: reports the progress of its calls under the client's progress token",
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, coding);
    const { client } = line;
    const code = 'await Promise.all([tools.one.progress({ steps: 2 }), tools.one.progress({ steps: 3 })])';
    await client.callTool('run_code', { code }, { meta: { progressToken: 't' } });
    const told = client.notifications.all.filter(({ method }) => method === 'notifications/progress');
    expect(told.map(({ params }) => [params?.['progressToken'], params?.['progress']])).toEqual(
      [1, 2, 3, 4, 5].map((at) => ['t', at]),
    );
    expect(told[0]?.params?.['message']).toBe('one__progress 1/2 step 1');
  },
);

scenario(
  'script: cancels its calls and ends its thread when the client cancels it',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] }, coding);
    const { client, gateway } = line;
    const log = line.logs['one'];
    await run(client, '1');
    for (const rest of ['await both', 'for (;;);']) {
      const before = log?.of('cancelled').length ?? 0;
      const cancelling = new AbortController();
      const code = `const call = (text) => tools.one.slow({ text, ms: 600000 }); const both = Promise.all([call('a'), call('b')]); ${rest}`;
      const outcome = run(client, code, { signal: cancelling.signal }).catch((error: unknown) => error);
      const calls = (): number => log?.of('call').length ?? 0;
      const expected = calls() + 2;
      await eventually(() => calls() === expected, { what: 'Both calls at the server' });
      const threads = threadsOf(gateway.pid);
      cancelling.abort();
      expect(String(await outcome)).toContain('cancelled');
      await eventually(() => log?.of('cancelled').length === before + 2, { what: 'Both calls cancelled' });
      const isOver = (): boolean => {
        const now = threadsOf(gateway.pid);
        return threads.some((thread) => !now.includes(thread));
      };
      await eventually(isOver, { what: 'The end of its thread' });
    }
    expect(await value(client, '1 + 1')).toBe(2);
  },
);

scenario(
  'script: stops at its time, CPU, memory and call limits and cancels its open calls',
  { slow: true, downstream: ['stdio/legacy', 'http/modern'] },
  async (cell) => {
    // Even on a busy machine a second of CPU time takes less than twelve seconds.
    const limits = { timeout: '12s', cpu: '1s', memoryMb: 24, maxCalls: 5 };
    await using line = await cell.open(
      { one: ['plain'] },
      { ...coding, config: { ...config, code: limits } },
    );
    const { client } = line;
    await client.callTool('one__echo', { text: 'started' });
    for (const [code, why] of [
      ["await tools.one.slow({ text: 'x', ms: 600000 })", 'after 12 s'],
      [
        "tools.one.slow({ text: 'x', ms: 600000 }); console.log('so far'); for (;;);",
        'computed for more than 1 s',
      ],
      ['const all = []; for (;;) all.push(new Array(1000).fill(0))', 'more than 24 MB'],
      ["for (;;) await tools.one.echo({ text: 'x' })", 'more than 5 calls'],
    ] as const) {
      const result = await run(client, code);
      expect([gatewayErrorCode(result), textOfResult(result)]).toEqual([
        'SCRIPT_STOPPED',
        expect.stringContaining(why),
      ]);
      if (code.includes('so far')) expect(result.content[1]?.text).toBe('console:\nso far');
    }
    await eventually(() => line.logs['one']?.of('cancelled').length === 2, { what: 'The cancelled calls' });
    expect(await value(client, '[...Array(3).keys()]')).toEqual([0, 1, 2]);
  },
);

scenario(
  'script: does not block other requests while it computes',
  { downstream: ['stdio/legacy', 'http/legacy', 'http/modern'] },
  async (cell) => {
    const limits = { ...config, code: { cpu: '1h', timeout: '1h' } };
    await using line = await cell.open({ one: ['plain'] }, { ...coding, config: limits });
    const { client } = line;
    const cancelling = new AbortController();
    const spinning = run(client, "tools.one.echo({ text: 'spins' }); for (;;);", {
      signal: cancelling.signal,
    });
    const outcome = spinning.catch((error: unknown) => error);
    await line.logs['one']?.waitFor('call');
    for (let round = 0; round < 3; round += 1) {
      if (client.era === 'legacy') expect(await client.request('ping', {}, { withinMs: 2000 })).toEqual({});
      expect(await value(client, 'Number(await tools.one.add({ a: 1, b: 1 }))')).toBe(2);
    }
    cancelling.abort();
    expect(String(await outcome)).toContain('cancelled');
  },
);

scenario(
  'script: stores an oversized return value for read_result',
  { downstream: ['stdio/legacy', 'http/modern'] },
  async (cell) => {
    const limits = { ...config, results: { maxTokens: 1000 }, code: { maxOutput: 50_000 } };
    await using line = await cell.open({ one: ['plain'] }, { ...coding, config: limits });
    const { client } = line;
    const text = textOfResult(
      await run(client, "return Array.from({ length: 2000 }, (_, at) => 'line ' + at).join('\\n')"),
    );
    expect(text.length).toBeLessThan(5000);
    const id = /read_result[^\n]*?"?id"?[:= ]+"?([\w-]+)/.exec(text)?.[1] ?? '';
    expect(textOfResult(await client.callTool('read_result', { id, find: 'line 1999' }))).toContain(
      'line 1999',
    );
    const cut = textOfResult(await run(client, "return 'x'.repeat(60000)"));
    expect(cut).toContain('read_result');
  },
);

scenario('script: calls a server that has no listing yet', async (cell) => {
  const early = { ...coding, config: { startup: { listWait: '0s' } } };
  await using line = await cell.open({ one: ['slow-start', '--ms', '500'] }, early);
  expect(await value(line.client, 'Number(await tools.one.add({ a: 1, b: 2 }))')).toBe(3);
});

scenario(
  'script: does not delay the shutdown of the gateway',
  { downstream: ['stdio/legacy', 'http/legacy'] },
  async (cell) => {
    const limits = { ...config, shutdown: '300ms' };
    await using line = await cell.open({ one: ['plain'] }, { ...coding, config: limits });
    const { client, gateway } = line;
    const scripts = ['for (;;);', "await tools.one.slow({ text: 'x', ms: 600000 }); for (;;);"].map((rest) =>
      run(client, `await tools.one.echo({ text: 'begun' }); ${rest}`),
    );
    await eventually(() => line.logs['one']?.of('call').length === 3, { what: 'Both scripts at work' });
    gateway.signal('SIGTERM');
    expect((await Promise.all(scripts)).map(gatewayErrorCode)).toEqual(['SHUTTING_DOWN', 'SHUTTING_DOWN']);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  },
);

function threadsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/task`);
}
