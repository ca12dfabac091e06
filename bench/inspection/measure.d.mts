import type { JsonObject } from '../../src/model/json.ts';
import type { Finding } from '../../src/policy/inspect/finding.ts';
import type { inspectBesideOthers } from '../../src/policy/inspect/neighbours.ts';

export const GOALS: { readonly recall: number; readonly realAlarms: number };

interface Measured {
  readonly attacks: readonly unknown[];
  readonly benign: readonly unknown[];
  readonly real: readonly unknown[];
}

export function measureInspection(
  scanner: {
    readonly inspect: (definition: JsonObject) => readonly Finding[];
    readonly inspectBesideOthers: typeof inspectBesideOthers;
  },
  halves?: readonly string[],
): Measured;

export function summariseInspection(
  measured: Measured,
): Readonly<
  Record<
    | 'recall'
    | 'recallDev'
    | 'recallHeldOut'
    | 'recallBlind'
    | 'hardAlarms'
    | 'hardAlarmsDev'
    | 'hardAlarmsHeldOut'
    | 'realAlarms'
    | 'realAlarmsBesideAll'
    | 'attacks'
    | 'benign'
    | 'real',
    number
  >
>;
