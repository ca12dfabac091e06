import { describe, expect, test } from 'vitest';

import { GOALS, measureInspection, summariseInspection } from '../../bench/inspection/measure.mjs';
import { inspect } from '../../src/policy/inspect/inspect.ts';
import { inspectBesideOthers } from '../../src/policy/inspect/neighbours.ts';

describe('the labelled set', () => {
  test('is found where patterns were made for it, and real tools are left alone', { timeout: 60_000 }, () => {
    const summary = summariseInspection(measureInspection({ inspect, inspectBesideOthers }));
    const { recallByPart, hardAlarmsByPart } = summary;
    expect(summary.attacks).toBe(651);
    expect(summary.real).toBe(2037);
    for (const part of ['first/dev', 'first/held-out', 'second/dev'])
      expect([part, (recallByPart[part]?.share ?? 0) >= GOALS.recall]).toEqual([part, true]);
    // The README of the set says how much these are worth; they must not get worse.
    expect(recallByPart['first/blind']?.share).toBeGreaterThanOrEqual(0.84);
    expect(recallByPart['second/validation']?.share).toBeGreaterThanOrEqual(0.8);
    expect(recallByPart['second/held-out']?.share).toBeGreaterThanOrEqual(0.85);
    expect(summary.realAlarmsBesideAll).toBeLessThanOrEqual(GOALS.realAlarms);
    expect(summary.unseenAlarmsBesideAll).toBeLessThanOrEqual(0.02);
    expect(summary.hardAlarmsAll).toBeLessThanOrEqual(0.08);
    expect(hardAlarmsByPart['second/validation']?.share).toBeLessThanOrEqual(0.2);
  });
});
