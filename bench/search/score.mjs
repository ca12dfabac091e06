/**
 * Recall among the first 1, 5 and 10 hits and the reciprocal rank of the first relevant one. `equivalent` has tools that are as good as a
 * relevant one: finding any of them counts once.
 */
export function scoreQuery({ relevant, equivalent = {} }, ranked) {
  const relevantBy = new Map(relevant.map((id) => [id, id]));
  for (const [id, others] of Object.entries(equivalent))
    for (const other of others) if (!relevantBy.has(other)) relevantBy.set(other, id);
  const found = new Set();
  const ranks = [];
  for (const [rank, id] of [...new Set(ranked)].slice(0, 10).entries()) {
    const hit = relevantBy.get(id);
    if (hit === undefined || found.has(hit)) continue;
    found.add(hit);
    ranks.push(rank);
  }
  const recall = (count) => ranks.filter((rank) => rank < count).length / relevant.length;
  const [first] = ranks;
  return {
    'R@1': recall(1),
    'R@5': recall(5),
    'R@10': recall(10),
    MRR: first === undefined ? 0 : 1 / (first + 1),
  };
}
