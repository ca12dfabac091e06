import type { JsonObject } from '../../src/core/json.ts';
import type { InspectionFinding } from '../../src/policy/inspection/inspection-finding.ts';
import type { createCrossServerInspection } from '../../src/policy/inspection/cross-server-inspection.ts';

export const PARTS: readonly string[];
export function intervalOf(found: number, count: number): readonly [number, number];
export function partOfFirst(id: string): 'dev' | 'held-out' | 'blind';
export const GOALS: { readonly recall: number; readonly publicAlarms: number };

interface Measured {
  readonly attacks: readonly unknown[];
  readonly benign: readonly unknown[];
  readonly generatedTools: readonly unknown[];
  readonly publicTools: readonly unknown[];
  readonly otherTools: readonly unknown[];
}

export function measureInspection(
  scanner: {
    readonly inspect: (definition: JsonObject) => readonly InspectionFinding[];
    readonly inspectBesideOthers: typeof createCrossServerInspection;
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
  readonly generatedAlarms: number;
  readonly generatedAlarmsBesideAll: number;
  readonly generatedSentences: number;
  readonly publicAlarms: number;
  readonly publicAlarmsBesideAll: number;
  readonly otherAlarms: number;
  readonly attacks: number;
  readonly attacksUnseen: number;
  readonly benign: number;
  readonly benignUnseen: number;
  readonly attacksForeign: number;
  readonly benignForeign: number;
  readonly generatedTools: number;
  readonly publicTools: number;
  readonly otherTools: number;
}

export function summariseInspection(measured: Measured): InspectionSummary;
