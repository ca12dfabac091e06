import { describe, expect, test } from 'vitest';

import { interleaved, median, medianOf, paired, percentile } from './stats.mjs';

describe('percentile', () => {
  test('percentile: interpolates between neighbours in any order', () => {
    expect(percentile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(percentile([10, 20], 0.75)).toBe(17.5);
    expect(percentile([7], 0.99)).toBe(7);
    expect(median([3, 1, 2])).toBe(2);
  });
});

describe('incomplete rounds', () => {
  test('paired comparison: uses only rounds in which both took part', () => {
    const divided = (one, other) => one / other;
    expect(paired([2, undefined, 9], [1, 5, 3], divided)).toBe(2.5);
    expect(paired([undefined, 1], [1, undefined], divided)).toBeUndefined();
    expect(medianOf([undefined, 4, undefined, 2])).toBe(3);
    expect(medianOf([undefined])).toBeUndefined();
  });
});

describe('interleaved', () => {
  const order = [];
  const measure = ({ name }, step) => {
    order.push(`${name}${step}`);
    return Promise.resolve({ [step]: name });
  };

  test('interleaving: runs all subjects in each step, in alternating order', async () => {
    order.length = 0;
    const subjects = [{ name: 'a' }, { name: 'b' }];
    const results = await interleaved(subjects, { rounds: 2, steps: [1, 2], measure });
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'b1', 'a1', 'b2', 'a2']);
    expect(results.get(subjects[0])).toEqual([
      { 1: 'a', 2: 'a' },
      { 1: 'a', 2: 'a' },
    ]);
  });

  test('interleaving: leaves rounds empty in which a subject takes no part', async () => {
    const rare = { name: 'rare', every: 2 };
    const results = await interleaved([rare], { rounds: 3, steps: [1], measure });
    expect(results.get(rare)).toEqual([{ 1: 'rare' }, {}, { 1: 'rare' }]);
  });

  test('interleaving: continues without a failing subject if allowed, else rejects', async () => {
    const bad = { name: 'bad' };
    const good = { name: 'good' };
    const failing = (subject) =>
      subject === bad ? Promise.reject(new Error('no')) : Promise.resolve({ ok: true });
    const options = { rounds: 2, steps: [1], measure: failing };
    await expect(interleaved([bad, good], options)).rejects.toThrow('no');
    const seen = [];
    const onFailure = (subject, error) => seen.push(`${subject.name}: ${error.message}`) > 0;
    const results = await interleaved([bad, good], { ...options, onFailure });
    expect(seen).toEqual(['bad: no']);
    expect(results.get(good)).toEqual([{ ok: true }, { ok: true }]);
  });
});
