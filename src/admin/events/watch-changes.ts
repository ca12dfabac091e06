import type { AdminEvent, AdminHeldCounts, AdminTick } from '../contract/dashboard-contract.ts';
import { configShown } from '../shown/config-shown.ts';
import type { AdminDeps } from '../deps.ts';
import { allServers } from '../shown/server-shown.ts';
import { RecordWatch } from './record-watch.ts';

const LOOK_EVERY_MS = 250;
const TICK_EVERY_MS = 5000;

type Emit = (event: AdminEvent) => void;

/**
 * Tells what changes, by looking: states, numbers and waiting calls change in many places and by the hundred, and a reader wants
 * to know how things are a few times a second, not of each step.
 */
export function watchChanges(deps: AdminDeps, emit: Emit): Disposable {
  const looks = [
    serverLook(deps, emit),
    approvalLook(deps, emit),
    tickLook(deps, emit),
    configLook(deps, emit),
  ];
  const records = new RecordWatch(deps, (record) => emit({ event: 'record', data: record }));
  // At once: questions to the record and what is written to it keep their order, so that nothing that comes from now on is missed.
  void records.look();
  const timer = setInterval(() => {
    for (const look of looks) look();
    void records.look();
  }, LOOK_EVERY_MS).unref();
  const changed = deps.gateway.events.on('changed', ({ tools, prompts, resources }) =>
    emit({ event: 'catalog', data: { tools, prompts, resources } }),
  );
  let isOver = false;
  let signIns: Disposable | undefined;
  deps.signIns
    .watch((data) => emit({ event: 'sign-in', data }))
    .then((watching) => {
      signIns = watching;
      if (isOver) watching[Symbol.dispose]();
    })
    // Where nobody can sign in there is nothing to tell.
    .catch(() => {});
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      clearInterval(timer);
      changed[Symbol.dispose]();
      signIns?.[Symbol.dispose]();
    },
  };
}

/** How things are at the beginning is no change. */
function serverLook(deps: AdminDeps, emit: Emit): () => void {
  let known = new Map(allServers(deps).map((server) => [server.name, JSON.stringify(server)]));
  return () => {
    const now = new Map<string, string>();
    for (const server of allServers(deps)) {
      const text = JSON.stringify(server);
      now.set(server.name, text);
      if (known.get(server.name) !== text) emit({ event: 'server', data: server });
    }
    for (const name of known.keys()) if (!now.has(name)) emit({ event: 'server-gone', data: { name } });
    known = now;
  };
}

function approvalLook({ gateway }: AdminDeps, emit: Emit): () => void {
  const counts = (): AdminHeldCounts => ({
    ...gateway.quarantine.counts,
    calls: gateway.waiting.list().length,
  });
  // Also when one thing was decided and another one came.
  const read = (): string =>
    JSON.stringify([
      counts(),
      gateway.waiting.list().map(({ id, isOpen }) => [id, isOpen]),
      gateway.servers.names().map((name) => {
        const listing = gateway.servers.listing(name);
        const { tools = [], prompts = [], words } = listing?.judged ?? {};
        return tools.length + prompts.length === 0 && words === undefined
          ? 0
          : [listing?.at, tools, prompts, words?.reason];
      }),
    ]);
  let known = read();
  return () => {
    const now = read();
    if (now !== known) emit({ event: 'approvals', data: counts() });
    known = now;
  };
}

function configLook(deps: AdminDeps, emit: Emit): () => void {
  const read = (): string => JSON.stringify([deps.config().revision, deps.reload()?.state]);
  let known = read();
  return () => {
    const now = read();
    if (now === known) return;
    known = now;
    configShown(deps)
      .then((data) => emit({ event: 'config', data }))
      // Best effort: a file that cannot be read is in the problem that the next look finds.
      .catch(() => {});
  };
}

function tickLook({ gateway, audit, clients, pause }: AdminDeps, emit: Emit): () => void {
  const read = (): AdminTick => ({
    at: Date.now(),
    clients: clients(),
    inFlight: gateway.status().reduce((sum, { inFlight }) => sum + inFlight, 0),
    records: audit.health.written,
    ...(pause.since !== undefined && { pausedSince: pause.since }),
  });
  let last = read();
  return () => {
    const now = read();
    if (now.at - last.at < TICK_EVERY_MS && now.pausedSince === last.pausedSince) return;
    last = now;
    emit({ event: 'tick', data: now });
  };
}
