import { describe, expect, test } from 'vitest';

import { GOALS, measureInspection, summariseInspection } from '../../../bench/inspection/measure.mjs';
import { inspectDefinition } from '../../../src/policy/inspection/inspect-definition.ts';
import { createCrossServerInspection } from '../../../src/policy/inspection/cross-server-inspection.ts';

const FITTED = [
  'first/dev',
  'first/held-out',
  'second/dev',
  'second/validation',
  'third/train',
  'third/validation',
  'fourth/train',
  'fifth/train',
];

describe('labelled inspection set', () => {
  test('inspection: meets its recall and false-alarm goals on the labelled set', { tags: ['slow'] }, () => {
    const summary = summariseInspection(
      measureInspection({ inspect: inspectDefinition, inspectBesideOthers: createCrossServerInspection }),
    );
    const { recallByPart, hardAlarmsByPart } = summary;
    expect(summary.attacks).toBe(3254);
    expect(summary.generatedTools).toBe(2000);
    for (const part of FITTED) expect([part, (recallByPart[part]?.share ?? 0) >= 0.98]).toEqual([part, true]);
    // The README of the data set explains these numbers; they must not get worse.
    expect(recallByPart['first/blind']?.share).toBeGreaterThanOrEqual(0.95);
    expect(recallByPart['second/held-out']?.share).toBeGreaterThanOrEqual(0.92);
    expect(recallByPart['third/test']?.share).toBeGreaterThanOrEqual(0.82);
    expect(summary.recall).toBeGreaterThanOrEqual(GOALS.recall);
    expect(summary.recallUnseen).toBeGreaterThanOrEqual(0.93);
    // Without the public catalog, which is not part of the repository, this share is 0.
    expect(summary.publicAlarmsBesideAll).toBeLessThanOrEqual(GOALS.publicAlarms);
    // Nothing was fitted to the generated tools: 1 in 8 is held today.
    expect(summary.generatedAlarmsBesideAll).toBeLessThanOrEqual(0.135);
    expect(summary.hardAlarms).toBeLessThanOrEqual(0.27);
    expect(summary.hardAlarmsAll).toBeLessThanOrEqual(0.08);
    expect(hardAlarmsByPart['fourth/train']?.share).toBeLessThanOrEqual(0.03);
  });
});
