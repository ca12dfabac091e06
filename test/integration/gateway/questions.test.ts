import { expect } from 'vitest';

import { rpcErrorOf } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { everyLeg, overHttp, scenario } from '../../support/scenario.ts';

checkLeaks();

const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const answers: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'elicitation/create': { action: 'accept', content: { name: 'Ada', town: 'London' } },
  'sampling/createMessage': { role: 'assistant', model: 'm', content: { type: 'text', text: 'Paris' } },
  'roots/list': { roots: [{ uri: 'file:///home/ada' }] },
};

interface Result {
  readonly resultType?: string;
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly inputRequests?: Readonly<
    Record<string, { readonly method: string; readonly params?: { readonly message?: string } }>
  >;
  readonly requestState?: string;
}

/** Calls a tool that asks the client and answers as clients of its era do. Returns the result and the questions. */
async function callAndAnswer(
  client: RawClient,
  name: string,
  mark: string,
): Promise<{ result: Result; asked: string[] }> {
  const asked: string[] = [];
  if (client.era === 'legacy') {
    for (const [method, answer] of Object.entries(answers)) {
      client.answers(method, () => {
        asked.push(method);
        return answer;
      });
    }
  }
  let params: Record<string, unknown> = { name, arguments: { mark } };
  for (;;) {
    const result = (await client.request('tools/call', params)) as unknown as Result;
    if (result.resultType !== 'input_required') return { result, asked };
    const questions = Object.entries(result.inputRequests ?? {});
    asked.push(...questions.map(([, { method }]) => method));
    const inputResponses = Object.fromEntries(questions.map(([key, { method }]) => [key, answers[method]]));
    params = { name, arguments: { mark }, inputResponses, requestState: result.requestState };
  }
}

function said(result: Result): { mark: string; answers: unknown[] } {
  expect(result.isError, result.content[0]?.text).not.toBe(true);
  return JSON.parse(result.content[0]?.text ?? '') as { mark: string; answers: unknown[] };
}

scenario(
  'server request: reaches the client of its call, and the response reaches the server',
  { downstream: everyLeg, upstream: everyLeg, pairing: 'every' },
  async (cell) => {
    await using line = await cell.open({ one: ['asks-the-user'] }, { capabilities });
    for (const [tool, method] of [
      ['one__ask-form', 'elicitation/create'],
      ['one__ask-url', 'elicitation/create'],
      ['one__ask-model', 'sampling/createMessage'],
      ['one__ask-roots', 'roots/list'],
    ] as const) {
      const { result, asked } = await callAndAnswer(line.client, tool, tool);
      expect(asked).toEqual([method]);
      expect(said(result).mark).toBe(tool);
      expect(JSON.stringify(said(result).answers)).toContain(JSON.stringify(answers[method]));
    }
  },
);

scenario(
  'server request: is answered when several arrive at once or in sequence',
  { downstream: everyLeg, upstream: everyLeg, pairing: 'every' },
  async (cell) => {
    await using line = await cell.open({ one: ['asks-the-user'] }, { capabilities });
    const all = await callAndAnswer(line.client, 'one__ask-all', 'a');
    expect(all.asked.toSorted()).toEqual(['elicitation/create', 'roots/list', 'sampling/createMessage']);
    expect(said(all.result).mark).toBe('a');
    const twice = await callAndAnswer(line.client, 'one__ask-twice', 'b');
    expect(twice.asked).toEqual(['elicitation/create', 'elicitation/create']);
    expect(said(twice.result).mark).toBe('b');
  },
);

scenario(
  'server request: is not sent to a client without the capability, and the call still ends',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['asks-the-user'] }, { capabilities: {} });
    const before = line.client.requests.all.length;
    // The tool decides whether it continues without an answer; the call must end in any case.
    await line.client
      .request('tools/call', { name: 'one__ask-form', arguments: { mark: 'a' } })
      .catch(() => undefined);
    expect(line.client.requests.all.length).toBe(before);
  },
);

scenario(
  'server request: keeps concurrent calls of two clients apart',
  { downstream: overHttp },
  async (cell) => {
    await using line = await cell.open({ one: ['asks-the-user'] }, { capabilities });
    const other = await line.another({ capabilities });
    const marks = ['a', 'b', 'c', 'd', 'e', 'f'];
    const results = await Promise.all(
      marks.map(async (mark, at) => {
        const client = at % 2 === 0 ? line.client : other;
        return callAndAnswer(client, 'one__ask-form', mark).catch(() => undefined);
      }),
    );
    // Simultaneous questions may be declined. Each answer must belong to its own call, and later questions are asked in turn.
    results.forEach((outcome, at) => {
      if (outcome !== undefined && outcome.result.isError !== true)
        expect(said(outcome.result).mark).toBe(marks[at]);
    });
    const later = await Promise.all([
      callAndAnswer(line.client, 'one__ask-form', 'x'),
      callAndAnswer(other, 'one__ask-form', 'y'),
    ]);
    expect(later.map(({ result }) => said(result).mark)).toEqual(['x', 'y']);
  },
);

scenario(
  'server request: does not block later calls when the client never answers',
  { downstream: ['http/modern', 'stdio/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['asks-the-user'] }, { capabilities });
    const ask = (): Promise<unknown> =>
      line.client.request('tools/call', { name: 'one__ask-form', arguments: { mark: 'left' } });
    // More calls than may occupy a process; none is ever answered.
    for (let index = 0; index < 6; index += 1)
      expect(await ask()).toMatchObject({ resultType: 'input_required' });
    const { result } = await callAndAnswer(line.client, 'one__ask-twice', 'here');
    expect(said(result).mark).toBe('here');
  },
);

// MCP 2026-07-28 basic
scenario(
  'server request: names the missing client capability in the error to a modern client',
  { downstream: ['http/modern'], upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['asks-the-user'] }, { capabilities: { roots: {} } });
    // A legacy server asks because another client supports it; a modern server knows which client calls it.
    const other = await line.gateway.client({ capabilities: { sampling: {} } });
    await callAndAnswer(other, 'one__ask-model', 'y');
    const call = line.client.request('tools/call', { name: 'one__ask-model', arguments: { mark: 'x' } });
    expect(await rpcErrorOf(call)).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { sampling: {} } },
    });
  },
);
