import type { Catalog } from '../catalog/catalog.ts';
import type { Listing } from '../catalog/listing.ts';
import { orCancelled } from '../lib/cancellation.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import { GatewayError } from '../model/errors.ts';
import type { Entry } from '../model/entry.ts';
import type { HeldReason } from '../model/held.ts';
import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import type { UpstreamConfig } from '../config/config.ts';
import type { Approvals } from '../policy/approvals/approvals.ts';
import type { Lock } from '../policy/approvals/lock/lock.ts';
import { subjectsOf } from '../policy/approvals/subject.ts';
import type { ApprovalKind, Subject } from '../policy/approvals/subject.ts';
import { scanner } from '../policy/scanner.ts';
import type { Scan } from '../policy/scanner.ts';
import type { Discovery } from './listing/discovery.ts';
import { quarantined } from './calls/route.ts';
import type { Servers } from './operating/servers.ts';

/** Names one thing and the bytes of it that were looked at. */
export interface Named {
  readonly server: UpstreamName;
  readonly kind: ApprovalKind;
  /** The server's own. */
  readonly name: string;
  readonly fingerprint: Fingerprint;
}

/** What waits for a person. */
export interface Waiting {
  readonly server: UpstreamName;
  readonly subject: Subject;
  readonly reason: HeldReason;
  /** What was approved before. */
  readonly approved?: Subject;
  readonly findings: ReturnType<Scan>;
}

interface QuarantineDeps {
  /** Without them nothing is ever held. */
  readonly approvals: Approvals | undefined;
  readonly catalog: Catalog;
  readonly servers: Pick<Servers, 'status' | 'statusOf' | 'restart'>;
  readonly discovery: Pick<Discovery, 'changing'>;
  readonly configs: ReadonlyMap<UpstreamName, UpstreamConfig>;
}

/** What waits for a person's approval, and what becomes of it. */
export class Quarantine {
  #scanned: { readonly of: readonly Listing[]; readonly found: Map<string, ReturnType<Scan>> } | undefined;
  readonly #deps: QuarantineDeps;

  constructor(deps: QuarantineDeps) {
    this.#deps = deps;
  }

  get lock(): Lock | undefined {
    return this.#deps.approvals?.lock;
  }

  /** Why nothing new is approved for the time being. */
  get problem(): string | undefined {
    return this.#deps.approvals?.problem;
  }

  /** How many servers and how many parts of servers wait; whoever refused something has decided. */
  get counts(): { readonly servers: number; readonly entries: number } {
    const judged = this.#listings().flatMap(({ judged: each }) => each ?? []);
    return {
      servers: this.#deps.servers.status().filter(({ state }) => state === 'held').length,
      entries: judged
        .flatMap(({ tools, prompts, words }) => [
          ...[...tools, ...prompts].map(([, reason]) => reason),
          ...(words === undefined ? [] : [words.reason]),
        ])
        .filter((reason) => reason !== 'refused').length,
    };
  }

  /** What is offered and held, with what was approved in its place. */
  async waiting(): Promise<readonly Waiting[]> {
    const { approvals } = this.#deps;
    if (approvals === undefined) return [];
    const scan = await this.#scanner();
    const all: Waiting[] = [];
    for (const config of this.#deps.configs.values()) {
      const listing = this.#deps.catalog.listing(config.name);
      if (!(await approvals.mayStart(config)))
        all.push({ server: config.name, subject: serverSubject(config), reason: 'new', findings: [] });
      for (const [subject, reason] of listing === undefined ? [] : heldIn(listing)) {
        const { upstream: server } = listing as Listing;
        const approved = await approvals.approved(server, subject.kind, subject.name);
        const findings = scan(server, subject);
        all.push({ server, subject, reason, findings, ...(approved !== undefined && { approved }) });
      }
    }
    return all;
  }

  /** Lets servers that must not be started say so where nobody has needed them yet; none of them is started by this. */
  async noticeServers(): Promise<void> {
    const { approvals, servers, configs } = this.#deps;
    for (const config of configs.values()) {
      if (approvals === undefined || config.trust !== 'manual') continue;
      if (servers.statusOf(config.name).state !== 'idle' || (await approvals.mayStart(config))) continue;
      // What it is refused with is in its state then.
      await servers.restart(config.name).catch(() => {});
    }
  }

  /** Whether a server that is run like this was approved, by a person or at first sight. */
  async isApproved(server: UpstreamName, fingerprint: Fingerprint): Promise<boolean> {
    const { approvals } = this.#deps;
    // Where nothing is ever held, there is nothing to wait for.
    if (approvals === undefined) return true;
    return (await approvals.approved(server, 'server', ''))?.fingerprint === fingerprint;
  }

  /** Throws unless everything is offered exactly as it was looked at; then all of it is decided. */
  async decide(wanted: readonly Named[], state: 'approved' | 'refused', by: string): Promise<void> {
    const { approvals } = this.#deps;
    if (approvals === undefined) throw new GatewayError('USAGE', 'Nothing is ever held here.');
    const decisions = wanted.map((each) => ({ upstream: each.server, subject: this.#offered(each) }));
    if (approvals.lock !== undefined && decisions.some(({ subject }) => subject.kind !== 'server'))
      throw new GatewayError(
        'USAGE',
        `${approvals.lock.file} decides what may be shown. Review the change there: trunkline lock writes it anew.`,
      );
    await approvals.decide(decisions, state, by);
    await this.#apply([...new Set(wanted.map(({ server }) => server))]);
  }

  /** What was approved has changed in another process, or the lockfile has. */
  async changed(): Promise<void> {
    await this.#deps.approvals?.reload();
    await this.#apply([...this.#deps.configs.keys()]);
  }

  /** What decides about these servers is configured otherwise. */
  async judgeAgain(names: readonly UpstreamName[]): Promise<void> {
    if (names.length > 0) await this.#apply(names);
  }

  /** These servers are in no configuration any more. */
  async forget(names: readonly UpstreamName[]): Promise<void> {
    if (names.length > 0) await this.#deps.approvals?.forget(names);
  }

  /** The last look before a call leaves: what was held while it waited is not called. */
  refuseHeld(entry: Entry | undefined): void {
    if (entry?.kind !== 'tool' && entry?.kind !== 'prompt') return;
    const held = this.#deps.catalog.heldReason(entry);
    if (held !== undefined) throw quarantined({ entry, reason: held });
  }

  /** Whether its server has just said that its list is another one, which was not read yet. */
  isChanging(upstream: UpstreamName): boolean {
    return this.#deps.approvals !== undefined && this.#deps.discovery.changing(upstream) !== undefined;
  }

  /** Resolves when a list that its server has just said is another one was read; undefined when there is none. */
  changing(upstream: UpstreamName, cancellation: Cancellation): Promise<void> | undefined {
    const change = this.#deps.approvals === undefined ? undefined : this.#deps.discovery.changing(upstream);
    return change && orCancelled(change, cancellation);
  }

  /** Whether only what was listed and judged may be used; otherwise a server refuses itself what it never listed. */
  get isOn(): boolean {
    return this.#deps.approvals !== undefined;
  }

  async #apply(names: readonly UpstreamName[]): Promise<void> {
    const { approvals, catalog, servers, configs } = this.#deps;
    for (const name of names) {
      const config = configs.get(name);
      if (config === undefined || servers.statusOf(name).state !== 'held') continue;
      // Why it cannot be started after all is in its state.
      if (await approvals?.mayStart(config)) await servers.restart(name).catch(() => {});
    }
    await catalog.judgeAgain(names);
  }

  #offered({ server, kind, name, fingerprint }: Named): Subject {
    const config = this.#deps.configs.get(server);
    const listing = this.#deps.catalog.listing(server);
    const subject =
      kind === 'server'
        ? config && serverSubject(config)
        : listing && subjectsOf(listing).find((each) => each.kind === kind && each.name === name);
    const what = kind === 'server' ? `server "${server}"` : `${kind} "${name}" of server "${server}"`;
    if (subject === undefined)
      throw new GatewayError('ENTRY_NOT_FOUND', `There is no ${what} to decide about.`, {
        details: { kind },
      });
    if (subject.fingerprint !== fingerprint)
      throw new GatewayError(
        'REVISION_CONFLICT',
        `The ${what} is not what you looked at any more; look again with: trunkline approvals`,
        { details: { expected: fingerprint, found: subject.fingerprint } },
      );
    return subject;
  }

  #listings(): readonly Listing[] {
    return [...this.#deps.configs.keys()].flatMap((name) => this.#deps.catalog.listing(name) ?? []);
  }

  /** Looking at thousands of definitions takes long, so that each is looked at once while the listings are the same. */
  async #scanner(): Promise<Scan> {
    const listings = this.#listings();
    if (
      this.#scanned?.of.length !== listings.length ||
      this.#scanned.of.some((one, at) => one !== listings[at])
    )
      this.#scanned = { of: listings, found: new Map() };
    const { found } = this.#scanned;
    const scan = await scanner(
      listings.flatMap(({ upstream, tools }) => tools.map(({ definition }) => ({ upstream, definition }))),
    );
    return (upstream, subject) => {
      const key = JSON.stringify([upstream, subject.kind, subject.name]);
      let findings = found.get(key);
      if (findings === undefined) found.set(key, (findings = scan(upstream, subject)));
      return findings;
    };
  }
}

/** A server is approved by how it is run; what a person reads of that is made where it is shown. */
function serverSubject({ fingerprint }: UpstreamConfig): Subject {
  return { kind: 'server', name: '', definition: {}, fingerprint };
}

function heldIn(listing: Listing): readonly (readonly [Subject, HeldReason])[] {
  const { judged } = listing;
  if (judged === undefined) return [];
  const reasons = {
    tool: new Map(judged.tools),
    prompt: new Map(judged.prompts),
    words: new Map<string, HeldReason>(judged.words === undefined ? [] : [['', judged.words.reason]]),
    server: new Map<string, HeldReason>(),
  };
  return subjectsOf(listing).flatMap((subject) => {
    const reason = reasons[subject.kind].get(subject.name);
    return reason === undefined ? [] : [[subject, reason] as const];
  });
}
