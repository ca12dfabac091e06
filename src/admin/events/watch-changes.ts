import type { AdminDeps } from '../admin-deps.ts';
import type { AdminEvent, AdminHeldCounts, AdminTick } from '../contract/dashboard-contract.ts';
import { presentConfigState } from '../presenters/present-config-state.ts';
import { presentServers } from '../presenters/present-servers.ts';
import { RecordPoller } from './record-poller.ts';

const POLL_INTERVAL_MS = 250;
const TICK_INTERVAL_MS = 5000;

type Emit = (event: AdminEvent) => void;

/**
 * Emits an event for each change. Polls the state four times a second, because states, counts and held calls change often and in many
 * places, and a subscriber needs the current state rather than every step.
 */
export function watchChanges(deps: AdminDeps, emit: Emit): Disposable {
  const polls = [
    pollServers(deps, emit),
    pollApprovals(deps, emit),
    pollTick(deps, emit),
    pollClients(deps, emit),
    pollConfig(deps, emit),
  ];
  const records = new RecordPoller(deps, (record) => emit({ event: 'record', data: record }));
  // This query sets the starting point. No later record is missed, because the audit thread processes queries and writes in order.
  void records.poll();
  const timer = setInterval(() => {
    for (const poll of polls) poll();
    void records.poll();
  }, POLL_INTERVAL_MS).unref();
  const catalogChanges = deps.gateway.events.on('changed', ({ tools, prompts, resources }) =>
    emit({ event: 'catalog', data: { tools, prompts, resources } }),
  );
  let isDisposed = false;
  let signIns: Disposable | undefined;
  deps.signIns
    .watch((data) => emit({ event: 'sign-in', data }))
    .then((subscription) => {
      signIns = subscription;
      if (isDisposed) subscription[Symbol.dispose]();
    })
    // A gateway without sign-ins has no such events.
    .catch(() => {});
  return {
    [Symbol.dispose]: () => {
      isDisposed = true;
      clearInterval(timer);
      catalogChanges[Symbol.dispose]();
      signIns?.[Symbol.dispose]();
    },
  };
}

/** Returns a function that emits the changes since its last call. Like the functions below, it emits no event for the initial state. */
function pollServers(deps: AdminDeps, emit: Emit): () => void {
  let known = new Map(presentServers(deps).map((server) => [server.name, JSON.stringify(server)]));
  return () => {
    const current = new Map<string, string>();
    for (const server of presentServers(deps)) {
      const text = JSON.stringify(server);
      current.set(server.name, text);
      if (known.get(server.name) !== text) emit({ event: 'server', data: server });
    }
    for (const name of known.keys()) if (!current.has(name)) emit({ event: 'server-gone', data: { name } });
    known = current;
  };
}

function pollApprovals({ gateway }: AdminDeps, emit: Emit): () => void {
  const counts = (): AdminHeldCounts => ({
    ...gateway.heldEntries.counts,
    calls: gateway.heldCalls.list().length,
  });
  // The compared text includes the items, because the counts stay the same if one item is decided while another one is added.
  const read = (): string =>
    JSON.stringify([
      counts(),
      gateway.heldCalls.list().map(({ id, isOpen }) => [id, isOpen]),
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

function pollConfig(deps: AdminDeps, emit: Emit): () => void {
  const read = (): string => JSON.stringify([deps.config().revision, deps.reload()?.state]);
  let known = read();
  return () => {
    const now = read();
    if (now === known) return;
    known = now;
    presentConfigState(deps)
      .then((data) => emit({ event: 'config', data }))
      // A failure is ignored: if the file cannot be read, a later poll finds the problem in the state.
      .catch(() => {});
  };
}

function pollClients({ connectedClients }: AdminDeps, emit: Emit): () => void {
  let known = connectedClients.revision;
  return () => {
    const { revision } = connectedClients;
    if (revision === known) return;
    known = revision;
    emit({ event: 'clients', data: { total: connectedClients.list().length } });
  };
}

function pollTick({ gateway, audit, clients, pause }: AdminDeps, emit: Emit): () => void {
  const read = (): AdminTick => ({
    at: Date.now(),
    clients: clients(),
    inFlight: gateway.status().reduce((sum, { inFlight }) => sum + inFlight, 0),
    records: audit.health.written,
    pausedSince: pause.since,
  });
  let last = read();
  return () => {
    const now = read();
    if (now.at - last.at < TICK_INTERVAL_MS && now.pausedSince === last.pausedSince) return;
    last = now;
    emit({ event: 'tick', data: now });
  };
}
