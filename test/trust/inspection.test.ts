import { describe, expect, test } from 'vitest';

import { GOALS, measureInspection, summariseInspection } from '../../bench/inspection/measure.mjs';
import { inspect } from '../../src/policy/inspect/inspect.ts';
import { inspectBesideOthers } from '../../src/policy/inspect/neighbours.ts';

describe('the labelled set', () => {
  test('is found where patterns were made for it, and real tools are left alone', { timeout: 60_000 }, () => {
    const summary = summariseInspection(measureInspection({ inspect, inspectBesideOthers }));
    expect(summary.attacks).toBeGreaterThanOrEqual(120);
    expect(summary.benign).toBeGreaterThanOrEqual(60);
    expect(summary.real).toBe(2037);
    expect(summary.recallDev).toBeGreaterThanOrEqual(GOALS.recall);
    // The README of the set says how much these are worth; they must not get worse.
    expect(summary.recallHeldOut).toBeGreaterThanOrEqual(0.9);
    expect(summary.recallBlind).toBeGreaterThanOrEqual(0.4);
    expect(summary.realAlarmsBesideAll).toBeLessThanOrEqual(GOALS.realAlarms);
    expect(summary.hardAlarms).toBeLessThanOrEqual(0.08);
  });
});
