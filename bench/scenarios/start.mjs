import { interleaved } from '../lib/stats.mjs';
import { endGateway, gateway, open, prepareHome, within } from '../lib/subjects.mjs';

const MANY = { servers: 10, tools: 50 };
export const MANY_TOOLS = MANY.servers * MANY.tools;

/** Measures the time from the start of the process to the answer of the first `tools/list`, as multiples of an empty Node process. */
export async function start(children, { plan }) {
  const home = await prepareWarmHome(children);
  const shared = await prepareWarmHome(children);
  const cold = (name) => () => firstList(children, { name, home: prepareHome(children) });
  const warm = (name, transport) => () => firstList(children, { name, transport, home, tools: MANY_TOOLS });
  const subjects = [
    { key: 'node', run: () => untilEnd(children, ['-e', '0']) },
    { key: 'help', run: () => untilEnd(children, [gateway, '--help']) },
    { key: 'direct', run: cold('direct') },
    { key: 'coldFloor', run: cold('floor') },
    { key: 'coldTrunkline', run: cold('trunkline') },
    { key: 'warmFloor', run: warm('floor') },
    { key: 'warmTrunkline', run: warm('trunkline') },
    { key: 'warmHttpFloor', run: warm('floor', 'http') },
    { key: 'warmHttpTrunkline', run: warm('trunkline', 'http') },
    { key: 'starting', run: () => startingGateway(children, shared) },
    {
      key: 'attached',
      run: () => firstList(children, { name: 'attached', home: shared, tools: MANY_TOOLS }),
    },
  ];
  const results = await interleaved(subjects, {
    rounds: plan.startRounds,
    steps: ['start'],
    measure: async ({ run }) => ({ ms: await run() }),
  });
  await endGateway(children, shared);
  const times = Object.fromEntries(
    [...results].map(([{ key }, rounds]) => [key, rounds.map(({ ms }) => ms)]),
  );
  const { node, direct } = times;
  const row = (key, title, values) => ({ section: 'start', key, title, unit: 'ms', values });
  const rows = [
    row('cold', 'cold, one server', { node, direct, floor: times.coldFloor, trunkline: times.coldTrunkline }),
    row('warm', 'warm, ten servers, 500 tools', {
      node,
      floor: times.warmFloor,
      trunkline: times.warmTrunkline,
    }),
    row('warmHttp', 'the same, over HTTP', {
      node,
      floor: times.warmHttpFloor,
      trunkline: times.warmHttpTrunkline,
    }),
    row('attached', 'the same, through a running gateway', { node, trunkline: times.attached }),
    row('starting', 'the same, starting the gateway', { node, trunkline: times.starting }),
    row('help', 'trunkline --help', { node, trunkline: times.help }),
  ];
  return { rows };
}

/** A home in which the floor and Trunkline have each listed all tools once. */
export async function prepareWarmHome(children, config = {}) {
  const home = prepareHome(children, { ...MANY, config });
  for (const name of ['floor', 'trunkline']) await seeAllTools(children, { name, home });
  return home;
}

/** The first client starts the shared gateway for all. */
async function startingGateway(children, home) {
  await endGateway(children, home);
  return firstList(children, { name: 'attached', home, tools: MANY_TOOLS });
}

async function seeAllTools(children, { name, home }) {
  const { client, running, close } = await open(children, { name, home });
  const all = async () => {
    for (;;) {
      const { tools } = await client.request('tools/list');
      if (tools.length === MANY_TOOLS) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  await within(all(), `${name} did not list ${MANY_TOOLS} tools`, running);
  await close();
}

/** Milliseconds from the start of the process to its end. */
async function untilEnd(children, args) {
  const begin = performance.now();
  const running = children.start(args);
  await children.gone(running);
  return performance.now() - begin;
}

export async function firstList(children, { name, home, transport, tools: expected = 2, nodeArgs }) {
  const begin = performance.now();
  const subject = await open(children, { name, home, transport, nodeArgs });
  const asked = subject.client.request('tools/list');
  const listed = within(asked, `${name} did not list its tools`, subject.running);
  const { tools } = await subject.guard(listed);
  const ms = performance.now() - begin;
  // Does not end the shared gateway; its starter does.
  subject.client.close();
  await children.end(subject.running);
  if (tools.length !== expected)
    throw new Error(`${name} listed ${tools.length} tools instead of ${expected}`);
  return ms;
}
