import { GatewayError } from '../../core/errors.ts';
import type { HoldAssessment } from '../../core/held.ts';
import type { Fingerprint, UpstreamName } from '../../core/ids.ts';
import { completeAtOnce, completeInSlices } from '../../core/lib/complete-in-slices.ts';
import type { Database } from '../../core/storage/database.ts';
import type { Logger } from '../../observability/log.ts';
import type { ScanEntry, ScanFindings } from '../scanner.ts';
import { ApprovalIndex } from './approval-index.ts';
import { readApprovals } from './approval-rows.ts';
import type { Approval } from './approval-rows.ts';
import {
  listApprovalSubjects,
  createServerSubject,
  createSubjects,
  isDecisionAbout,
} from './approval-subject.ts';
import type { ApprovalKind, ApprovalSubject, ServerFingerprints, ServerOffer } from './approval-subject.ts';
import { ApprovalWriter } from './approval-writer.ts';
import { assessOffer } from './assess-offer.ts';
import type { OfferAssessment, TrustMode } from './assess-offer.ts';
import type { Lockfile } from './lockfile/lockfile.ts';

/** A listing with its earlier assessment, which catalog.json stores under the name `judged`. */
type AssessedOffer = ServerOffer & { readonly judged?: HoldAssessment | undefined };

interface ApprovalRegistryDeps {
  readonly database: () => Promise<Database>;
  /** Whether the database already exists, so that there may be approvals to read. */
  readonly hasStore: () => boolean;
  readonly trust: (upstream: UpstreamName) => TrustMode;
  readonly configured: (upstream: UpstreamName) => ServerFingerprints | undefined;
  /** Whether a server is no longer in the configuration, so that its approvals are removed. */
  readonly isRemoved: (upstream: UpstreamName) => boolean;
  readonly lock: Lockfile | undefined;
  /** Creates a scanner that compares a listing with the tools of all other servers. */
  readonly scanner: (offered: ServerOffer) => Promise<ScanEntry>;
  /** Called after a decision was written, so that other processes read it. */
  readonly onWritten: () => void;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Maximum number of reads per reload. Without it, servers whose listings change all the time could keep a
 * reload from ending.
 */
const MAX_RELOAD_ATTEMPTS = 5;
/** Appended to the basis of an assessment that was made while the database could not be read. */
const WITHOUT_STORE = ' without the store';
/** Used instead of `WITHOUT_STORE` if an earlier assessment showed what was approved, so that the server still counts as known. */
const WITHOUT_STORE_BUT_SHOWN = ' without the store, by what was shown';
/** Part of each basis since approvals cover `_meta`, so that the listings of earlier versions are assessed again. */
const WITH_META = ' with _meta';

/** Stores approvals and refusals, and uses them to decide which of a server's texts, tools and prompts are held. */
export class ApprovalRegistry {
  readonly #deps: ApprovalRegistryDeps;
  /** All decisions in memory; undefined until they are needed. */
  #index: Promise<ApprovalIndex> | undefined;
  #lock: Lockfile | undefined;
  readonly #writer: ApprovalWriter;
  #problem: string | undefined;

  constructor(deps: ApprovalRegistryDeps) {
    this.#deps = deps;
    this.#lock = deps.lock;
    this.#writer = new ApprovalWriter(deps);
  }

  get lock(): Lockfile | undefined {
    return this.#lock;
  }

  useLock(lock: Lockfile | undefined): void {
    this.#lock = lock;
  }

  /** The reason why the database cannot be read. While it is set, nothing new is approved. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Whether approvals wait in memory because the database rejected them. */
  get hasUnwritten(): boolean {
    return this.#writer.hasUnwritten;
  }

  /** Writes approvals that the database rejected earlier; never rejects. */
  async retryWrites(): Promise<void> {
    await this.#writer.retry();
  }

  /** Reads everything again, after another process has written or when the database may be readable again. */
  async reload(): Promise<void> {
    let index: ApprovalIndex | undefined;
    let revision: number;
    let attempts = 0;
    do {
      await this.#writer.retry();
      ({ revision } = this.#writer);
      index = await this.#read();
      // An approval that was written during the read may be missing from the index.
    } while (revision !== this.#writer.revision && ++attempts < MAX_RELOAD_ATTEMPTS);
    this.#writer.applyUnwrittenTo(index);
    this.#index = Promise.resolve(index);
    if (this.#problem !== undefined) this.#deps.log.info('Approvals are readable again.');
    this.#problem = undefined;
  }

  /** Returns the settings that assessments of a server depend on besides approvals. An assessment with another basis is outdated. */
  basis(upstream: UpstreamName): string {
    return `${this.#deps.trust(upstream)} ${this.#lock?.digest ?? ''}${WITH_META}`;
  }

  /** Returns which parts of a listing are held, and stores the approvals that the trust mode grants by itself. */
  async assess(offered: ServerOffer, before: AssessedOffer | undefined): Promise<HoldAssessment> {
    const { upstream } = offered;
    const trust = this.#deps.trust(upstream);
    const scan = trust === 'scan' && this.#lock === undefined ? await this.#deps.scanner(offered) : undefined;
    const subjects = await completeInSlices(createSubjects(offered));
    const scanned =
      scan && (await completeInSlices(scanUnapproved(upstream, subjects, scan, await this.#load())));
    const index = await this.#load();
    // The index is loaded again, because it may have changed during the scan. The rest of this method is
    // synchronous, so the index cannot change any more.
    if (!index.hasApproved(upstream) && before?.judged !== undefined)
      this.#restoreApprovals(before, before.judged, index);
    this.#extendFormerDecisions(upstream, subjects, index);
    const isFirstSight = this.#isFirstSight(offered, before?.judged, index);
    const locked = this.#lock?.servers.get(upstream);
    const assessment = assessOffer(subjects, {
      // Without the database, it is unknown what was refused and whether the server was seen before, so nothing is approved.
      trust: this.#problem === undefined ? trust : 'manual',
      isFirstSight,
      // The scan skipped what was approved at that time, so it is scanned here if necessary.
      isClean: (subject) =>
        (scanned?.get(subject) ?? (scan && completeAtOnce(scan(upstream, subject))))?.length === 0,
      approved: (kind, name) => index.find(upstream, kind, name)?.fingerprint,
      refused: (kind, name) => index.find(upstream, kind, name, 'refused')?.fingerprint,
      locked: this.#lock === undefined ? undefined : (kind, name) => locked?.find(kind, name)?.fingerprint,
    });
    const canApprove = this.#lock === undefined && this.#problem === undefined;
    if (isFirstSight && trust === 'first-sight' && canApprove) {
      const held = new Set(assessment.held.map(({ subject }) => subject));
      this.#endFirstSight(offered, { index, accepted: subjects.filter((subject) => !held.has(subject)) });
    } else if (assessment.newlyApproved.length > 0) {
      this.#approve(offered, assessment.newlyApproved, { index, by: trust });
    }
    return this.#holdAssessment(upstream, assessment, index);
  }

  /** Whether the process of a server may start. With the trust mode `manual`, a person must approve its configuration first. */
  async canStart(config: {
    readonly name: UpstreamName;
    readonly trust: TrustMode;
    readonly startFingerprint: Fingerprint;
  }): Promise<boolean> {
    if (config.trust !== 'manual') return true;
    const index = await this.#load();
    return index.find(config.name, 'server', '')?.fingerprint === config.startFingerprint;
  }

  /** Returns the approved version of a server, text, tool or prompt. If there is a lockfile, it replaces the stored approvals, except those of servers. */
  async findApproved(
    upstream: UpstreamName,
    kind: ApprovalKind,
    name: string,
  ): Promise<ApprovalSubject | undefined> {
    if (this.#lock !== undefined && kind !== 'server')
      return this.#lock.servers.get(upstream)?.find(kind, name);
    return (await this.#load()).find(upstream, kind, name);
  }

  /** Stores a person's decisions. Rejects if the database rejects them; they have no effect then. */
  async decide(
    decisions: readonly { readonly upstream: UpstreamName; readonly subject: ApprovalSubject }[],
    state: Approval['state'],
    by: string,
  ): Promise<void> {
    const at = this.#deps.now();
    const add = decisions.map(({ upstream, subject }) => ({ upstream, ...subject, state, at, by }));
    const index = await this.#load();
    await this.#writer.write({ add });
    for (const approval of add) index.add(approval);
    this.#deps.onWritten();
  }

  /** Removes the approvals of servers that left the configuration. A server that is added later under the same name is a new one. */
  async forget(upstreams: readonly UpstreamName[]): Promise<void> {
    if (this.#index === undefined && !this.#deps.hasStore()) return;
    const index = await this.#load();
    const known = upstreams.filter((name) => index.hasApproved(name));
    for (const name of known) index.forgetApproved(name);
    if (known.length > 0) await this.#writer.write({ forget: known });
  }

  async flush(): Promise<void> {
    await this.#writer.flush();
  }

  #load(): Promise<ApprovalIndex> {
    return (this.#index ??= this.#deps.hasStore()
      ? this.#readOrStartEmpty()
      : Promise.resolve(new ApprovalIndex()));
  }

  /** Reads the index. If the database cannot be read, it returns an empty one, which `assess` fills from earlier assessments. */
  async #readOrStartEmpty(): Promise<ApprovalIndex> {
    try {
      return await this.#read();
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      this.#deps.log.error('Approvals cannot be read: entries that were not shown before are held.', {
        reason: this.#problem,
      });
      return new ApprovalIndex();
    }
  }

  /** Reads all decisions, and removes the approvals of servers that are no longer in the configuration. */
  async #read(): Promise<ApprovalIndex> {
    const index = new ApprovalIndex(await readApprovals(await this.#deps.database()));
    const removed = index.upstreams().filter((name) => index.hasApproved(name) && this.#deps.isRemoved(name));
    for (const name of removed) index.forgetApproved(name);
    if (removed.length > 0) await this.#writer.write({ forget: removed });
    this.#extendFormerServers(index);
    return index;
  }

  /** Extends the approvals of servers by earlier versions of Trunkline, which ignored `auth`, to the present `auth`, so that an upgrade holds nothing. */
  #extendFormerServers(index: ApprovalIndex): void {
    for (const upstream of index.upstreams()) {
      const approval = index.find(upstream, 'server', '');
      const configured = this.#deps.configured(upstream);
      if (approval === undefined || configured === undefined || 'config' in approval.definition) continue;
      if (approval.fingerprint !== configured.fingerprint) continue;
      const extended = { ...approval, ...createServerSubject(configured) };
      index.add(extended);
      this.#writer.enqueue(upstream, { forget: false, add: [extended] });
    }
  }

  /** Approves the entries that an earlier run showed to clients, because the database has no approvals of this server. */
  #restoreApprovals(before: ServerOffer, assessment: HoldAssessment, index: ApprovalIndex): void {
    const held = new Set([
      ...assessment.tools.map(([name]) => `tool ${name}`),
      ...assessment.prompts.map(([name]) => `prompt ${name}`),
      ...(assessment.words === undefined ? [] : ['words ']),
    ]);
    const shown = listApprovalSubjects(before).filter(({ kind, name }) => !held.has(`${kind} ${name}`));
    this.#approve(before, shown, { index, by: 'an earlier run' });
  }

  /** Extends the decisions of earlier versions of Trunkline, which ignored `_meta`, to the present `_meta`, so that an upgrade holds nothing. */
  #extendFormerDecisions(
    upstream: UpstreamName,
    subjects: readonly ApprovalSubject[],
    index: ApprovalIndex,
  ): void {
    const extended = subjects.flatMap(({ kind, name, definition, fingerprint, formerFingerprint }) =>
      (['approved', 'refused'] as const).flatMap((state) => {
        const decision = index.find(upstream, kind, name, state);
        const isFormer = decision !== undefined && decision.fingerprint === formerFingerprint;
        return isFormer ? [{ ...decision, definition, fingerprint }] : [];
      }),
    );
    for (const decision of extended) index.add(decision);
    if (extended.length > 0) this.#writer.enqueue(upstream, { forget: false, add: extended });
  }

  /**
   * Whether the server is new, or has another configuration than the approved one. If there are no approvals,
   * an earlier assessment with the present basis proves that the server was seen before and that its whole
   * listing was held. An assessment with the suffix `WITHOUT_STORE` proves nothing.
   */
  #isFirstSight(offered: ServerOffer, earlier: HoldAssessment | undefined, index: ApprovalIndex): boolean {
    const { upstream, config } = offered;
    const basis = this.basis(upstream);
    if (!index.hasApproved(upstream)) {
      const bases = [basis, basis.slice(0, -WITH_META.length)].flatMap((known) => [
        known,
        known + WITHOUT_STORE_BUT_SHOWN,
      ]);
      return earlier === undefined || !bases.includes(earlier.basis);
    }
    const approvedServer = index.find(upstream, 'server', '');
    return approvedServer !== undefined && approvedConfig(approvedServer) !== config;
  }

  /**
   * Replaces the approvals of a server with its present configuration and the accepted subjects, even if no
   * subject is new.
   */
  #endFirstSight(
    offered: ServerOffer,
    { index, accepted }: { readonly index: ApprovalIndex; readonly accepted: readonly ApprovalSubject[] },
  ): void {
    const { upstream } = offered;
    const isKnown = index.hasApproved(upstream);
    if (accepted.length === 0 && !isKnown) return;
    // A known server that offers nothing yet keeps its approvals, because a later listing may match them.
    const forget = accepted.length > 0 && isKnown;
    if (forget) index.forgetApproved(upstream);
    this.#approve(offered, accepted, { index, by: this.#deps.trust(upstream), forget });
  }

  #approve(
    { upstream, config }: ServerOffer,
    subjects: readonly ApprovalSubject[],
    {
      index,
      by,
      forget = false,
    }: { readonly index: ApprovalIndex; readonly by: string; readonly forget?: boolean },
  ): void {
    const at = this.#deps.now();
    const configured = this.#deps.configured(upstream);
    const startFingerprint = configured?.fingerprint === config ? configured.startFingerprint : config;
    const server = createServerSubject({ fingerprint: config, startFingerprint });
    // With the trust mode `manual`, only a person approves the start of the server.
    const approved = this.#deps.trust(upstream) === 'manual' ? subjects : [server, ...subjects];
    const add = approved.map((subject) => ({ upstream, ...subject, state: 'approved' as const, at, by }));
    for (const approval of add) index.add(approval);
    this.#writer.enqueue(upstream, { forget, add });
  }

  #holdAssessment(upstream: UpstreamName, { held }: OfferAssessment, index: ApprovalIndex): HoldAssessment {
    const heldOfKind = (kind: ApprovalKind): HoldAssessment['tools'] =>
      held
        .filter(({ subject }) => subject.kind === kind)
        .map(({ subject: { name }, reason }) => [name, reason]);
    const words = held.find(({ subject: { kind } }) => kind === 'words');
    const approvedWords =
      this.#lock === undefined
        ? index.find(upstream, 'words', '')
        : this.#lock.servers.get(upstream)?.find('words', '');
    return {
      basis: this.basis(upstream) + this.#storeSuffix(upstream, index),
      tools: heldOfKind('tool'),
      prompts: heldOfKind('prompt'),
      words: words && { reason: words.reason, approved: approvedWords?.definition ?? {} },
    };
  }

  /** Returns a suffix that makes the basis outdated, so that the listing is assessed again once the database is readable. */
  #storeSuffix(upstream: UpstreamName, index: ApprovalIndex): string {
    if (this.#problem === undefined) return '';
    return index.hasApproved(upstream) ? WITHOUT_STORE_BUT_SHOWN : WITHOUT_STORE;
  }
}

export function heldServerError(name: UpstreamName): GatewayError {
  return new GatewayError(
    'QUARANTINED',
    `Server "${name}" was not started, because it is held for approval. Review it with: trunkline approvals`,
    { details: { upstream: name, reason: 'new' } },
  );
}

/** Returns the fingerprint of the transport of an approved server. Earlier versions stored no other. */
function approvedConfig({ definition, fingerprint }: Approval): unknown {
  return definition['config'] ?? fingerprint;
}

/** Scans the subjects that differ from the approved ones, in steps, because scanning a large listing takes a long time. */
function* scanUnapproved(
  upstream: UpstreamName,
  subjects: readonly ApprovalSubject[],
  scan: ScanEntry,
  index: ApprovalIndex,
): Generator<undefined, ReadonlyMap<ApprovalSubject, ScanFindings>> {
  const findings = new Map<ApprovalSubject, ScanFindings>();
  for (const subject of subjects) {
    if (isDecisionAbout(subject, index.find(upstream, subject.kind, subject.name)?.fingerprint)) continue;
    findings.set(subject, yield* scan(upstream, subject));
    yield;
  }
  return findings;
}
