import { expect } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

const patient = { startup: { listWait: '60s' } };
const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];

scenario('exposed names: are identical byte for byte across restarts', { slow: true }, async () => {
  const home = temporaryFolder('trunkline-home');
  const slowly = (ms: number) => fixture('slow-start', '--ms', String(ms));
  const entries = {
    one: fixture('same-names', '--mark', 'one'),
    'on.e': fixture('same-names', '--mark', 'other'),
    long: fixture('long-names'),
    plain: slowly(1),
  };
  const first = await textsOf({ home, mcpServers: entries });
  // With a warm cache, and the servers in another order.
  const reversed = Object.fromEntries(Object.entries(entries).toReversed());
  expect(await textsOf({ home, mcpServers: reversed })).toEqual(first);
  expect(await textsOf({ home, mcpServers: entries })).toEqual(first);
  // Without a cache, and the servers ready in another order.
  const late = { ...reversed, plain: slowly(400) };
  expect(await textsOf({ home: temporaryFolder('trunkline-home'), mcpServers: late })).toEqual(first);
});

/** The raw text of all lists, equal before and after the servers were listed again. */
async function textsOf(options: {
  readonly home: string;
  readonly mcpServers: Readonly<Record<string, ReturnType<typeof fixture>>>;
}): Promise<readonly string[]> {
  const logs = Object.values(options.mcpServers).map(fixtureLog);
  const starts = logs.map((log) => log.of('started').length);
  await using gateway = await startGateway({ ...options, config: patient });
  await using client = await gateway.client();
  const ask = async (): Promise<readonly string[]> => {
    const texts: string[] = [];
    for (const [index, method] of lists.entries()) {
      await client.request(method, {}, { id: `list-${index}` });
      texts.push(client.rawLines.findLast((text) => text.includes(`"id":"list-${index}"`)) ?? '');
    }
    return texts;
  };
  const early = await ask();
  const isListedAgain = (): boolean =>
    logs.every((log, index) => {
      const requests = log.of('request').filter(({ method }) => method === 'tools/list');
      return requests.length > (starts[index] ?? 0);
    });
  await eventually(isListedAgain, { withinMs: 10_000, what: 'A listing of every server' });
  expect(await ask()).toEqual(early);
  return early;
}

scenario(
  'exposed names: are valid, unique and callable for long, unusual and duplicate tool names',
  async (cell) => {
    await using line = await cell.open(
      {
        long: ['long-names'],
        one: ['same-names', '--mark', 'one'],
        'one.': ['same-names', '--mark', 'two'],
        [`name ${'x'.repeat(80)}`]: ['same-names', '--mark', 'three'],
      },
      { config: patient },
    );
    const tools = await line.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names.filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    const answers = await Promise.all(
      tools.map(async ({ name, description }) => ({
        description,
        answer: textOfResult(await line.client.callTool(name)),
      })),
    );
    // Each name reaches the tool of its description, identified by its length or by its number and server.
    for (const { description = '', answer } of answers) {
      const [, length] = /^A name of (\d+) characters/.exec(description) ?? [];
      const [, number, mark] = /^Tool (\d+) of (\w+)/.exec(description) ?? [];
      if (length === undefined) expect(answer).toBe(`${mark}: ${sameNames[Number(number)]}`);
      else expect(answer).toHaveLength(Number(length));
    }
    const expected = ['one', 'two', 'three'].flatMap((mark) =>
      [...new Set(sameNames)].map((name) => `${mark}: ${name}`),
    );
    const given = answers.map(({ answer }) => answer);
    expect(given.filter((answer) => answer.includes(': ')).toSorted()).toEqual(expected.toSorted());
    expect(new Set(given).size).toBe(expected.length + 20);
  },
);

/** The names of the fixture; it offers the first one twice, and only one of the two is callable. */
const sameNames = [
  'search',
  'search',
  'Search',
  'se.arch',
  'se_arch',
  'se__arch',
  'b__search',
  'create_branch',
];
