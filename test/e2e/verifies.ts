import { test } from 'vitest';

import { type Cell, type Line, type Servers, openLine } from '../support/cell.ts';
import { type Requirement, requirements } from './requirements.ts';

/** A cell as a scenario gets it: what it is, and a way to open a line in it. */
export interface ScenarioCell extends Cell {
  open(servers: Servers, options?: Parameters<typeof openLine>[2]): Promise<Line>;
}

type Scenario = (cell: ScenarioCell) => Promise<void>;
type Selection = (cell: Cell) => boolean;

/** Declares that a scenario shows a requirement; it runs for every cell of it, or for those that are selected. */
export function verifies(id: string, scenario: Scenario): void;
export function verifies(id: string, cells: Selection, scenario: Scenario): void;
export function verifies(id: string, second: Scenario | Selection, third?: Scenario): void {
  const requirement = requirements.find((one) => one.id === id);
  if (requirement === undefined) throw new Error(`No requirement has the id ${id}.`);
  // The overloads tell the two apart: a third argument makes the second a selection.
  const scenario = (third ?? second) as Scenario;
  const selected = third === undefined ? () => true : (second as Selection);
  const cells = cellsOf(requirement).filter(selected);
  if (cells.length === 0) throw new Error(`No cell of ${id} is selected.`);
  for (const cell of cells) {
    const isFailing = nameOf(cell) in requirement.knownFailures || '*' in requirement.knownFailures;
    const run = isFailing ? test.fails : test;
    run(`${id}: ${requirement.says} [${nameOf(cell)}]`, async () => {
      await scenario({ ...cell, open: (servers, options) => openLine(cell, servers, options) });
    });
  }
}

/** The cells that a requirement must hold in. */
export function cellsOf({ downstream, upstream, pairing }: Requirement): readonly Cell[] {
  const every = downstream.flatMap((down) => upstream.map((up) => ({ downstream: down, upstream: up })));
  if (pairing === 'every') return every;
  // The plain case first; then both sides run round, shifted by one, so that each leg occurs and pairs cross transports and eras.
  const wanted = new Set(every[0] === undefined ? [] : [nameOf(every[0])]);
  for (let index = 0; index < Math.max(downstream.length, upstream.length); index += 1) {
    const [down, up] = [downstream[index % downstream.length], upstream[(index + 1) % upstream.length]];
    if (down !== undefined && up !== undefined) wanted.add(nameOf({ downstream: down, upstream: up }));
  }
  return every.filter((cell) => wanted.has(nameOf(cell)));
}

export function nameOf({ downstream, upstream }: Cell): string {
  return `${downstream} → ${upstream}`;
}
