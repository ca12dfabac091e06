import { expect, test } from 'vitest';

import { listWaitOf, restOf } from './list-wait.ts';

test('counts from the start of the process for whoever asks soon', () => {
  expect(listWaitOf(950, 250)).toEqual({ soonest: 712.5, end: 950, latest: 1200 });
});

test('gives half of the wait to whoever asks late, and all of it where nothing is there', () => {
  expect(listWaitOf(950, 600)).toEqual({ soonest: 837.5, end: 1075, latest: 1550 });
  expect(listWaitOf(950, 3_600_000)).toEqual({ soonest: 3_600_237.5, end: 3_600_475, latest: 3_600_950 });
});

test('is one wait for all who ask', () => {
  const wait = listWaitOf(950, 250);
  expect(restOf(wait, 250)).toMatchObject({ forAllMs: 700, atMostMs: 950 });
  expect(restOf(wait, 250).withoutFew).toEqual({ fromMs: 462.5, lullMs: 50 });
  expect(restOf(wait, 1000)).toMatchObject({ forAllMs: 0, atMostMs: 200 });
  expect(restOf(wait, 5000)).toMatchObject({ forAllMs: 0, atMostMs: 0 });
});

test('is over at once where nobody shall wait', () => {
  expect(restOf(listWaitOf(0, 200), 200)).toMatchObject({ forAllMs: 0, atMostMs: 0 });
});
