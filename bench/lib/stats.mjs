export function median(values) {
  return percentile(values, 0.5);
}

/** With linear interpolation between neighbours. */
export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort();
  const position = (sorted.length - 1) * share;
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}

/**
 * Rounds of steps. In each step all subjects take their turn directly after one another, in an order that changes from
 * round to round, so that drift and other work on the machine hit all alike. Gives the rounds of each subject.
 */
export async function interleaved(subjects, { rounds, steps, measure }) {
  const results = new Map(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) results.get(subject).push({});
    for (const step of steps) {
      for (let turn = 0; turn < subjects.length; turn++) {
        const subject = subjects[(turn + round) % subjects.length];
        Object.assign(results.get(subject)[round], await measure(subject, step));
      }
    }
  }
  return results;
}
