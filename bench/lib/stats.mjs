export function median(values) {
  return percentile(values, 0.5);
}

/** The percentile with linear interpolation between neighbours. */
export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort();
  const position = (sorted.length - 1) * share;
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}

/** Median of `combine` over the rounds in which both figures were measured; undefined without any. */
export function paired(one, other, combine) {
  const values = one.flatMap((value, round) => {
    const beside = other[round];
    return value === undefined || beside === undefined ? [] : [combine(value, beside)];
  });
  return values.length === 0 ? undefined : median(values);
}

/** Median of the rounds in which the figure was measured. */
export function medianOf(values) {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}

/**
 * Runs rounds of steps. In each step all subjects take turns directly after one another, in an order that changes from round to round, so
 * drift and other work on the machine affect all alike. A subject with `every` takes part in every n-th round only. Returns the rounds of
 * each subject, empty where it took no part. A subject that fails is left out of later rounds if `onFailure` returns true.
 */
export async function interleaved(subjects, { rounds, steps, measure, onFailure = () => false }) {
  const results = new Map(subjects.map((subject) => [subject, []]));
  const failed = new Set();
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) results.get(subject).push({});
    for (const step of steps) {
      for (let turn = 0; turn < subjects.length; turn++) {
        const subject = subjects[(turn + round) % subjects.length];
        if (failed.has(subject) || round % (subject.every ?? 1) !== 0) continue;
        try {
          Object.assign(results.get(subject)[round], await measure(subject, step));
        } catch (error) {
          if (!onFailure(subject, error)) throw error;
          failed.add(subject);
        }
      }
    }
  }
  return results;
}
