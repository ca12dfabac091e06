// The goals of the project, each with a function that reads its value from the figures of a run.

/** Figures of `trunkline` in a row of the main tables, by section and key. */
function row({ rows }, section, key) {
  return rows.find((each) => each.section === section && each.key === key);
}

function ofFloor(section, key, limit) {
  const isAtLeast = limit.atLeast !== undefined;
  return (results) => {
    const ratio = row(results, section, key)?.ofFloor?.median;
    if (ratio === undefined) return undefined;
    const isReached = isAtLeast ? ratio >= limit.atLeast : ratio <= limit.atMost;
    return { measured: `${ratio.toFixed(2)} ×`, isReached };
  };
}

/** One goal for both transports. */
function both(title, key, stdio, http) {
  return [
    { title: `${title}, stdio`, goal: limitText(stdio), judge: ofFloor('stdio', key, stdio) },
    { title: `${title}, HTTP`, goal: limitText(http), judge: ofFloor('http', key, http) },
  ];
}

function limitText({ atLeast, atMost }) {
  return atLeast === undefined ? `≤ ${atMost.toFixed(2)} × floor` : `≥ ${atLeast.toFixed(2)} × floor`;
}

function fact(name, read) {
  return ({ facts }) => {
    const known = facts[name];
    return known === undefined ? undefined : read(known);
  };
}

/** Subjects of our own, which are not peers. */
const OURS = new Set(['direct', 'floor', 'sdk-naive', 'trunkline', 'trunkline, shared']);

/** Compares Trunkline with the best peer in the comparison table. */
function bestPeer(id, key, isMoreBetter) {
  return ({ tables }) => {
    const table = tables.find((each) => each.id === id);
    const own = table?.rows.find(({ name }) => name === 'trunkline')?.[key];
    const others = (table?.rows ?? []).filter(
      (each) => !OURS.has(each.name) && typeof each[key] === 'number',
    );
    if (own === undefined || others.length === 0) return undefined;
    const best = others.reduce((one, other) => (one[key] > other[key] === isMoreBetter ? one : other));
    const ratio = own / best[key];
    const isReached = isMoreBetter ? ratio > 1 : ratio < 1;
    return { measured: `${ratio.toFixed(2)} × ${best.name}`, isReached };
  };
}

const GOALS = [
  ...both('calls a second, 16 in flight', 'callsPerSecond16', { atLeast: 0.7 }, { atLeast: 0.8 }),
  ...both('CPU a call', 'cpu', { atMost: 2 }, { atMost: 1.6 }),
  ...both('one call at a time, p50', 'p50', { atMost: 1.25 }, { atMost: 1.25 }),
  ...both('result of 1 MB, p50', 'large', { atMost: 1.2 }, { atMost: 1.2 }),
  {
    title: 'warm start to the first list, stdio',
    goal: '≤ 1.50 × floor',
    judge: ofFloor('start', 'warm', { atMost: 1.5 }),
  },
  {
    title: 'warm start to the first list, HTTP',
    goal: '≤ 1.50 × floor',
    judge: ofFloor('start', 'warmHttp', { atMost: 1.5 }),
  },
  {
    title: 'warm start to the first list, stdio, of node',
    goal: '≤ 2.00 × node -e 0',
    judge: (results) => {
      const ratio = row(results, 'start', 'warm')?.ofBase.median;
      return ratio && { measured: `${ratio.toFixed(2)} ×`, isReached: ratio <= 2 };
    },
  },
  {
    title: 'trunkline --help',
    goal: '≤ 80 ms more than node -e 0',
    judge: (results) => {
      const medians = row(results, 'start', 'help')?.medians;
      const more = medians && medians.trunkline - medians.node;
      return more && { measured: `${Math.round(more)} ms more`, isReached: more <= 80 };
    },
  },
  {
    title: 'first start, one server takes 3 s',
    goal: '≤ 1,000 ms, the rest announced',
    judge: fact('cold', ({ slow }) => ({
      measured: `${Math.round(slow.ms)} ms, ${slow.tools} tools, ${slow.announced === 'yes' ? 'announced' : 'NOT announced'}`,
      isReached:
        slow.ms <= 1000 && slow.tools === 450 && slow.announced === 'yes' && slow.fullMs !== undefined,
    })),
  },
  {
    title: 'first start, one server never answers',
    goal: 'as without it (≤ 1.10 ×)',
    judge: fact('cold', ({ silent, without }) => ({
      measured: `${Math.round(silent.ms)} ms, ${silent.tools} tools; without ${Math.round(without.ms)} ms`,
      isReached: silent.ms <= 1.1 * without.ms && silent.tools === 450,
    })),
  },
  {
    title: '500 HTTP clients, 20 calls each',
    goal: 'no error, ≥ 0.80 × floor, ≤ 200 MB, 1 server',
    judge: fact('clients', ({ 500: many }) => {
      if (many?.rateOfFloor === undefined) return undefined;
      const { failed, rateOfFloor, rss, servers } = many;
      const isReached = failed === 0 && rateOfFloor >= 0.8 && rss <= 200 && servers === 1;
      const measured = `${failed} failed, ${rateOfFloor.toFixed(2)} ×, ${Math.round(rss)} MB, ${servers}`;
      return { measured, isReached };
    }),
  },
  {
    title: 'healthy server beside a hung one, p95',
    goal: '≤ 1.10 × alone',
    judge: fact('hung', ({ p95 }) => ({ measured: `${p95.toFixed(2)} ×`, isReached: p95 <= 1.1 })),
  },
  ...[
    { size: 500, most: 70 },
    { size: 5000, most: 120 },
  ].map(({ size, most }) => ({
    title: `idle memory, ${size.toLocaleString('en-US')} tools`,
    goal: `≤ ${most} MB`,
    judge: fact('memory', ({ [size]: idle }) =>
      idle === undefined ? undefined : { measured: `${idle.rss.toFixed(1)} MB`, isReached: idle.rss <= most },
    ),
  })),
  {
    title: 'idle CPU',
    goal: '0 (< 1 ms/s)',
    judge: fact('memory', ({ 500: idle }) =>
      idle === undefined ? undefined : { measured: `${idle.cpu.toFixed(2)} ms/s`, isReached: idle.cpu < 1 },
    ),
  },
  {
    title: 'kill -9 of the server: calls answered',
    goal: 'all, none made twice, others undisturbed',
    judge: fact('kills', ({ kills, answered, repeated, othersFailed }) => ({
      measured: `${answered} of ${kills}, ${repeated} twice, ${othersFailed} others failed`,
      isReached: answered === kills && repeated === 0 && othersFailed === 0,
    })),
  },
  {
    title: 'kill -9 of the server: back after',
    goal: "≤ 1.50 × the server's own start",
    judge: fact('kills', ({ recoveryMs, serverStartMs, kills, recovered }) => ({
      measured: `${Math.round(recoveryMs)} ms of ${Math.round(serverStartMs)} ms, ${recovered} of ${kills}`,
      isReached: recovered === kills && recoveryMs <= 1.5 * serverStartMs,
    })),
  },
  {
    title: 'processes left after the gateway ends',
    goal: '0, also by kill -9 and of stubborn servers',
    judge: fact('kills', ({ leftTerm, leftKill, leftTermStubborn, leftKillStubborn }) => ({
      measured: [leftTerm, leftKill, leftTermStubborn, leftKillStubborn].join(', '),
      isReached: leftTerm + leftKill + leftTermStubborn + leftKillStubborn === 0,
    })),
  },
  {
    title: 'tokens at the start, search, 500 tools',
    goal: '≤ 770 with instructions',
    judge: fact('tokens', ({ search }) => ({ measured: String(search), isReached: search <= 770 })),
  },
  {
    title: 'PostgreSQL on the way of a call',
    goal: 'no statement besides the record and the clock',
    judge: fact('fleet', ({ calls, others }) => ({
      measured: `${others.toLocaleString('en-US')} in ${calls.toLocaleString('en-US')} calls`,
      isReached: calls > 0 && others === 0,
    })),
  },
  {
    title: 'one gateway on PostgreSQL, calls a second',
    goal: '≥ 0.95 × SQLite',
    judge: fact('fleet', ({ rateOfFile }) =>
      rateOfFile === undefined
        ? undefined
        : { measured: `${rateOfFile.toFixed(2)} ×`, isReached: rateOfFile >= 0.95 },
    ),
  },
  {
    title: 'beside peers: calls a second, stdio',
    goal: 'more than every peer',
    judge: bestPeer('stdio', 'rate16OfDirect', true),
  },
  {
    title: 'beside peers: calls a second, HTTP',
    goal: 'more than every peer',
    judge: bestPeer('http', 'rate16OfDirect', true),
  },
  {
    title: 'beside peers: CPU a call, stdio',
    goal: 'less than every peer',
    judge: bestPeer('stdio', 'cpu', false),
  },
  {
    title: 'beside peers: CPU a call, HTTP',
    goal: 'less than every peer',
    judge: bestPeer('http', 'cpu', false),
  },
];

/** Every goal with its measured value, or a note that this run did not measure it. */
export function judgeGoals(results) {
  return GOALS.map(({ title, goal, judge }) => {
    const { measured = 'not measured', isReached } = judge(results) ?? {};
    return {
      name: title,
      goal,
      measured,
      verdict: isReached === undefined ? '' : isReached ? 'reached' : 'MISSED',
    };
  });
}

export const GOAL_COLUMNS = [
  { key: 'goal', title: 'goal', kind: 'text' },
  { key: 'measured', title: 'measured', kind: 'text' },
  { key: 'verdict', title: '', kind: 'text' },
];
