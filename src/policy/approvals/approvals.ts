import { GatewayError } from '../../model/errors.ts';
import type { Judgement } from '../../model/held.ts';
import type { Fingerprint, UpstreamName } from '../../model/ids.ts';
import type { Logger } from '../../observe/log.ts';
import type { Database } from '../../storage/database.ts';
import type { Scan } from '../scanner.ts';
import type { Lock } from './lock/lock.ts';
import { readApprovals } from './approval-rows.ts';
import type { Approval } from './approval-rows.ts';
import { ApprovalWrites } from './approval-writes.ts';
import { judgeOffer } from './judge-offer.ts';
import type { Grounds, Trust, Verdict } from './judge-offer.ts';
import { Ledger } from './ledger.ts';
import { subject, subjectsOf } from './subject.ts';
import type { ApprovalKind, Offered, Subject } from './subject.ts';

/** An offer that was judged before. */
type Before = Offered & { readonly judged?: Judgement | undefined };

interface ApprovalsDeps {
  readonly database: () => Promise<Database>;
  /** Whether an earlier run has stored anything. */
  readonly isStored: () => boolean;
  readonly trust: (upstream: UpstreamName) => Trust;
  /** Whether a server is in no configuration any more; it takes along what was said about it. */
  readonly isGone: (upstream: UpstreamName) => boolean;
  readonly lock: Lock | undefined;
  /** Knows what is offered as well, beside what other servers have. */
  readonly scanner: (offered: Offered) => Promise<Scan>;
  /** Told after something was written, so that other processes look. */
  readonly onWritten: () => void;
  readonly now: () => number;
  readonly log: Logger;
}

/** Servers that never stop changing do not hold up what another process approved. */
const READ_AGAIN = 5;
const BLINDLY = ' without the store';
const KNOWN_BLINDLY = ' without the store, by what was shown';

/** Remembers what was approved, and judges by it what servers offer. */
export class Approvals {
  readonly #deps: ApprovalsDeps;
  #ledger: Promise<Ledger> | undefined;
  #lock: Lock | undefined;
  readonly #writes: ApprovalWrites;
  #problem: string | undefined;

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
    this.#lock = deps.lock;
    this.#writes = new ApprovalWrites(deps);
  }

  get lock(): Lock | undefined {
    return this.#lock;
  }

  useLock(lock: Lock | undefined): void {
    this.#lock = lock;
  }

  /** Why the store cannot be read; nothing new is approved while that is so. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Whether something was approved that the store has not taken yet. */
  get isBehind(): boolean {
    return this.#writes.isBehind;
  }

  /** The store may take again what it refused; never fails. */
  async catchUp(): Promise<void> {
    await this.#writes.retry();
  }

  /** Another process has written, or the store may be readable again. */
  async reload(): Promise<void> {
    let ledger: Ledger | undefined;
    let edition: number;
    let attempts = 0;
    do {
      await this.#writes.retry();
      ({ edition } = this.#writes);
      ledger = await this.#read();
      // What was approved while it was read may be missing in it.
    } while (edition !== this.#writes.edition && ++attempts < READ_AGAIN);
    this.#writes.putInto(ledger);
    this.#ledger = Promise.resolve(ledger);
    if (this.#problem !== undefined) this.#deps.log.info('Approvals are readable again.');
    this.#problem = undefined;
  }

  basis(upstream: UpstreamName): string {
    return `${this.#deps.trust(upstream)} ${this.#lock?.digest ?? ''}`;
  }

  /** What of an offer is held; what this look itself approves is remembered. */
  async judge(offered: Offered, before: Before | undefined): Promise<Judgement> {
    const { upstream } = offered;
    const trust = this.#deps.trust(upstream);
    const ledger = await this.#loaded();
    const scan = trust === 'scan' && this.#lock === undefined ? await this.#deps.scanner(offered) : undefined;
    // From here on nothing is waited for, so that what is approved meanwhile cannot be overlooked.
    if (!ledger.knows(upstream) && before?.judged !== undefined)
      this.#remember(before, before.judged, ledger);
    const isFirstSight = this.#isFirstSight(offered, before?.judged, ledger);
    const locked = this.#lock?.servers.get(upstream);
    const subjects = subjectsOf(offered);
    const verdict = judgeOffer(subjects, {
      // Without the store nothing says what was refused, or that a server was seen before.
      trust: this.#problem === undefined ? trust : 'manual',
      isFirstSight,
      isClean: (each) => scan?.(upstream, each).length === 0,
      approved: (kind, name) => ledger.find(upstream, kind, name)?.fingerprint,
      refused: (kind, name) => ledger.find(upstream, kind, name, 'refused')?.fingerprint,
      ...(this.#lock !== undefined && { locked: (kind, name) => locked?.find(kind, name)?.fingerprint }),
    } satisfies Grounds);
    const isDecided = this.#lock === undefined && this.#problem === undefined;
    const isOpening = isFirstSight && trust === 'first-sight' && isDecided;
    const held = new Set(verdict.held.map(({ subject: each }) => each));
    // A first sight is over with the first look, also when that brought nothing new.
    if (isOpening) this.#open(offered, { ledger, seen: subjects.filter((each) => !held.has(each)) });
    else if (verdict.taken.length > 0)
      this.#approve(offered, verdict.taken, { ledger, by: this.#deps.trust(upstream) });
    return this.#judgement(upstream, verdict, ledger);
  }

  /** Nothing of a server is run before a person has agreed to how it is run, where that is wanted. */
  async mayStart(config: {
    readonly name: UpstreamName;
    readonly trust: Trust;
    readonly fingerprint: Fingerprint;
  }): Promise<boolean> {
    if (config.trust !== 'manual') return true;
    const ledger = await this.#loaded();
    return ledger.find(config.name, 'server', '')?.fingerprint === config.fingerprint;
  }

  /** What counts as approved for an entry now; a lockfile has the only word. */
  async approved(upstream: UpstreamName, kind: ApprovalKind, name: string): Promise<Subject | undefined> {
    if (this.#lock !== undefined && kind !== 'server')
      return this.#lock.servers.get(upstream)?.find(kind, name);
    return (await this.#loaded()).find(upstream, kind, name);
  }

  /** Resolves when it is stored; fails when it cannot be. */
  async decide(
    decisions: readonly { readonly upstream: UpstreamName; readonly subject: Subject }[],
    state: Approval['state'],
    by: string,
  ): Promise<void> {
    const at = this.#deps.now();
    const add = decisions.map(({ upstream, subject: each }) => ({ upstream, ...each, state, at, by }));
    const ledger = await this.#loaded();
    await this.#writes.write({ add });
    for (const approval of add) ledger.add(approval);
    this.#deps.onWritten();
  }

  /** They take along what was said about them; a server that comes back under such a name is a new one. */
  async forget(upstreams: readonly UpstreamName[]): Promise<void> {
    if (this.#ledger === undefined && !this.#deps.isStored()) return;
    const ledger = await this.#loaded();
    const known = upstreams.filter((name) => ledger.knows(name));
    for (const name of known) ledger.forget(name);
    if (known.length > 0) await this.#writes.write({ forget: known });
  }

  async flush(): Promise<void> {
    await this.#writes.flush();
  }

  #loaded(): Promise<Ledger> {
    return (this.#ledger ??= this.#deps.isStored() ? this.#readOrNone() : Promise.resolve(new Ledger()));
  }

  /** Without the store, what was shown before is all there is to go by. */
  async #readOrNone(): Promise<Ledger> {
    try {
      return await this.#read();
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      this.#deps.log.error('Approvals cannot be read: nothing that was not shown before is approved.', {
        reason: this.#problem,
      });
      return new Ledger();
    }
  }

  /** Whether nothing of the server was seen before with this configuration, neither by the store nor by the catalog. */
  #isFirstSight(offered: Offered, earlier: Judgement | undefined, ledger: Ledger): boolean {
    const { upstream, config } = offered;
    const basis = this.basis(upstream);
    if (!ledger.knows(upstream)) return earlier?.basis !== basis && earlier?.basis !== basis + KNOWN_BLINDLY;
    const started = ledger.find(upstream, 'server', '');
    return started !== undefined && started.fingerprint !== config;
  }

  async #read(): Promise<Ledger> {
    const ledger = new Ledger(await readApprovals(await this.#deps.database()));
    const gone = ledger.upstreams().filter((name) => ledger.knows(name) && this.#deps.isGone(name));
    for (const name of gone) ledger.forget(name);
    if (gone.length > 0) await this.#writes.write({ forget: gone });
    return ledger;
  }

  /** What was shown in an earlier run had been approved, even where the store has lost it. */
  #remember(before: Offered, judged: Judgement, ledger: Ledger): void {
    const held = new Set([
      ...judged.tools.map(([name]) => `tool ${name}`),
      ...judged.prompts.map(([name]) => `prompt ${name}`),
      ...(judged.words === undefined ? [] : ['words ']),
    ]);
    const shown = subjectsOf(before).filter(({ kind, name }) => !held.has(`${kind} ${name}`));
    this.#approve(before, shown, { ledger, by: 'an earlier run' });
  }

  /** From now on the server is known as it is configured now, and what it offers as it is offered now. */
  #open(
    offered: Offered,
    { ledger, seen }: { readonly ledger: Ledger; readonly seen: readonly Subject[] },
  ): void {
    const { upstream } = offered;
    const isKnown = ledger.knows(upstream);
    if (seen.length === 0 && !isKnown) return;
    // What it does not offer yet may be what was approved, when it comes.
    const forget = seen.length > 0 && isKnown;
    if (forget) ledger.forget(upstream);
    this.#approve(offered, seen, { ledger, by: this.#deps.trust(upstream), forget });
  }

  #approve(
    { upstream, config }: Offered,
    subjects: readonly Subject[],
    { ledger, by, forget = false }: { ledger: Ledger; by: string; forget?: boolean },
  ): void {
    const at = this.#deps.now();
    const server = { ...subject('server', '', {}), fingerprint: config };
    const all = this.#deps.trust(upstream) === 'manual' ? subjects : [server, ...subjects];
    const add = all.map((each) => ({ upstream, ...each, state: 'approved' as const, at, by }));
    for (const approval of add) ledger.add(approval);
    this.#writes.keep(upstream, { forget, add });
  }

  #judgement(upstream: UpstreamName, { held }: Verdict, ledger: Ledger): Judgement {
    const of = (wanted: ApprovalKind): Judgement['tools'] =>
      held
        .filter(({ subject: { kind } }) => kind === wanted)
        .map(({ subject: { name }, reason }) => [name, reason]);
    const words = held.find(({ subject: { kind } }) => kind === 'words');
    const approved = (
      this.#lock === undefined
        ? ledger.find(upstream, 'words', '')
        : this.#lock.servers.get(upstream)?.find('words', '')
    )?.definition;
    // What was judged without the store is judged again at the next opportunity.
    const blindly = this.#problem === undefined ? '' : ledger.knows(upstream) ? KNOWN_BLINDLY : BLINDLY;
    return {
      basis: this.basis(upstream) + blindly,
      tools: of('tool'),
      prompts: of('prompt'),
      ...(words !== undefined && {
        words: { reason: words.reason, approved: approved ?? {} },
      }),
    };
  }
}

export function heldServer(name: UpstreamName): GatewayError {
  return new GatewayError(
    'QUARANTINED',
    `Server "${name}" was not started: a person has to agree to it first, with: trunkline approvals`,
    { details: { upstream: name, reason: 'new' } },
  );
}
