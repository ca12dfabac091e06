import { describe, expect, test } from 'vitest';

import { GOALS, measureInspection, summariseInspection } from '../../bench/inspection/measure.mjs';
import { inspect } from '../../src/policy/inspect/inspect.ts';
import { inspectBesideOthers } from '../../src/policy/inspect/neighbours.ts';

const FITTED = [
  ...['first/dev', 'first/held-out', 'second/dev', 'second/validation'],
  ...['third/train', 'third/validation', 'fourth/train', 'fifth/train'],
];

describe('the labelled set', () => {
  test(
    'is found where weights were fitted to it, mostly elsewhere, and real tools are left alone',
    { timeout: 60_000 },
    () => {
      const summary = summariseInspection(measureInspection({ inspect, inspectBesideOthers }));
      const { recallByPart, hardAlarmsByPart } = summary;
      expect(summary.attacks).toBe(3254);
      expect(summary.real).toBe(2037);
      for (const part of FITTED)
        expect([part, (recallByPart[part]?.share ?? 0) >= 0.98]).toEqual([part, true]);
      // The README of the set says how much these are worth; they must not get worse.
      expect(recallByPart['first/blind']?.share).toBeGreaterThanOrEqual(0.95);
      expect(recallByPart['second/held-out']?.share).toBeGreaterThanOrEqual(0.92);
      expect(recallByPart['third/test']?.share).toBeGreaterThanOrEqual(0.82);
      expect(summary.recall).toBeGreaterThanOrEqual(GOALS.recall);
      expect(summary.recallUnseen).toBeGreaterThanOrEqual(0.93);
      expect(summary.realAlarmsBesideAll).toBeLessThanOrEqual(GOALS.realAlarms);
      expect(summary.unseenAlarmsBesideAll).toBeLessThanOrEqual(0.01);
      expect(summary.hardAlarms).toBeLessThanOrEqual(0.27);
      expect(summary.hardAlarmsAll).toBeLessThanOrEqual(0.08);
      expect(hardAlarmsByPart['fourth/train']?.share).toBeLessThanOrEqual(0.03);
    },
  );
});
