import type { JsonObject } from '../../src/model/json.ts';
import type { Finding } from '../../src/policy/inspect/finding.ts';
import type { inspectBesideOthers } from '../../src/policy/inspect/neighbours.ts';

export const PARTS: readonly string[];
export function intervalOf(found: number, count: number): readonly [number, number];
export function partOfFirst(id: string): 'dev' | 'held-out' | 'blind';
export const GOALS: { readonly recall: number; readonly realAlarms: number };

interface Measured {
  readonly attacks: readonly unknown[];
  readonly benign: readonly unknown[];
  readonly real: readonly unknown[];
  readonly unseen: readonly unknown[];
}

export function measureInspection(
  scanner: {
    readonly inspect: (definition: JsonObject) => readonly Finding[];
    readonly inspectBesideOthers: typeof inspectBesideOthers;
  },
  parts?: readonly string[],
): Measured;

interface Share {
  readonly count: number;
  readonly found: number;
  readonly share: number;
}

export interface InspectionSummary {
  readonly recall: number;
  readonly recallUnseen: number;
  readonly attacksOutside: number;
  readonly recallAll: number;
  readonly recallForeign: number;
  readonly recallByPart: Readonly<Record<string, Share>>;
  readonly recallByFamily: Readonly<Record<string, Share>>;
  readonly hardAlarms: number;
  readonly hardAlarmsAll: number;
  readonly hardAlarmsForeign: number;
  readonly hardAlarmsByPart: Readonly<Record<string, Share>>;
  readonly realAlarms: number;
  readonly realAlarmsBesideAll: number;
  readonly unseenAlarms: number;
  readonly unseenAlarmsBesideAll: number;
  readonly attacks: number;
  readonly attacksUnseen: number;
  readonly benign: number;
  readonly benignUnseen: number;
  readonly attacksForeign: number;
  readonly benignForeign: number;
  readonly real: number;
  readonly unseen: number;
}

export function summariseInspection(measured: Measured): InspectionSummary;
