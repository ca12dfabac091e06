// Scenarios run one test body against several combinations ("cells") of client and server transports and protocol eras:
//
//   scenario('prompts: are listed and fetched', { downstream: everyLeg, upstream: everyLeg }, async (cell) => {
//     await using line = await cell.open({ one: ['plain'] });
//     expect(await line.client.request('prompts/list')).toEqual(…);
//   });
//
// `npm test` runs one cell of each scenario, `npm run test:all` runs them all.

import { test } from 'vitest';

import { type Cell, type Leg, type TestSetup, type Servers, openTestSetup } from './cell.ts';

/** Tag of the cells that only `npm run test:all` runs. */
const EVERY_CELL = 'every-cell';

export const everyLeg: readonly Leg[] = [
  'stdio/legacy',
  'http/legacy',
  'http/modern',
  'stdio/modern',
  'sse/legacy',
];
export const overHttp: readonly Leg[] = ['http/legacy', 'http/modern'];

/** The cell that a scenario receives: the two legs, and a function that opens the gateway between them. */
export interface ScenarioCell extends Cell {
  open(servers: Servers, options?: Parameters<typeof openTestSetup>[2]): Promise<TestSetup>;
}

interface ScenarioOptions {
  /** How clients connect; by default an older client over stdio. */
  readonly downstream?: readonly Leg[];
  /** How servers connect; by default an older server over stdio. */
  readonly upstream?: readonly Leg[];
  /** `each` (the default) uses every leg of both sides at least once; `every` uses every pair. */
  readonly pairing?: 'each' | 'every';
  /** Takes seconds, so only `npm run test:all` runs it. */
  readonly slow?: boolean;
}

type ScenarioBody = (cell: ScenarioCell) => Promise<void>;

export function scenario(title: string, body: ScenarioBody): void;
export function scenario(title: string, options: ScenarioOptions, body: ScenarioBody): void;
export function scenario(title: string, second: ScenarioOptions | ScenarioBody, third?: ScenarioBody): void {
  const [options, body] = typeof second === 'function' ? [{}, second] : [second, third];
  if (body === undefined) throw new Error(`The scenario "${title}" has no body.`);
  const cells = cellsFor(options);
  const chosen = indexFor(title, cells.length);
  for (const [index, cell] of cells.entries()) {
    const tags = [...(index === chosen ? [] : [EVERY_CELL]), ...(options.slow === true ? ['slow'] : [])];
    // oxlint-disable-next-line vitest/expect-expect -- the body asserts
    test(`${title} [${cell.downstream} → ${cell.upstream}]`, { tags }, async () => {
      await body({ ...cell, open: (servers, options) => openTestSetup(cell, servers, options) });
    });
  }
}

export function cellsFor({
  downstream = ['stdio/legacy'],
  upstream = ['stdio/legacy'],
  pairing = 'each',
}: ScenarioOptions): readonly Cell[] {
  const every = downstream.flatMap((down) => upstream.map((up) => ({ downstream: down, upstream: up })));
  if (pairing === 'every') return every;
  // The plain case first. Then both sides advance together, shifted by one, so that pairs cross transports and eras.
  const chosen = new Set(every.slice(0, 1));
  for (let index = 0; index < Math.max(downstream.length, upstream.length); index += 1) {
    const down = downstream[index % downstream.length];
    const up = upstream[(index + 1) % upstream.length];
    const cell = every.find((one) => one.downstream === down && one.upstream === up);
    if (cell !== undefined) chosen.add(cell);
  }
  return [...chosen];
}

/** Returns the index of the cell that `npm test` runs. It depends on the title, so it differs between scenarios but not between runs. */
export function indexFor(title: string, count: number): number {
  let hash = 0;
  for (const character of title) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return hash % count;
}
