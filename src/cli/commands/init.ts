import type { JsonObject } from '../../core/json.ts';
import { findPlaintextSecrets } from '../../setup/import/plaintext-secrets.ts';
import type { SecretDestination } from '../../setup/import/import-edits.ts';
import { planImport } from '../../setup/import/plan-import.ts';
import type { ImportStep } from '../../setup/import/plan-import.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { toOneLine } from '../sanitize.ts';
import { openGatewayConnection } from '../gateway-client/gateway-connection.ts';
import { runLogin } from './login.ts';
import { runSearch } from './search.ts';
import { isInteractive, openTerminalPrompt } from './setup/terminal-prompt.ts';
import type { TerminalPrompt } from './setup/terminal-prompt.ts';
import { openEditableConfig } from './setup/editable-config.ts';
import type { EditableConfig } from './setup/editable-config.ts';
import { getConnectableClient } from './setup/connect-client.ts';
import { applyClientPlans, chooseClients, planClients } from './setup/init-clients.ts';
import { findImportableServers, getOwnIdentity } from './setup/find-importable-servers.ts';
import { printHeldSummary } from './setup/held-servers.ts';
import { addServers } from './setup/add-servers.ts';
import { correctEntries } from './setup/correct-entries.ts';
import { describeSecretPlace, openDraftSecrets } from './setup/secret-access.ts';
import { describeStorage, noteApplied } from './setup/server-changes.ts';
import { findMissingSecret, printServerTests, testServers } from './setup/test-servers.ts';
import type { ServerTest } from './setup/test-servers.ts';
import {
  printImportPlan,
  noteLeftOutFiles,
  noteRemarks,
  noteUnreadableFiles,
} from './setup/print-import-plan.ts';

export interface InitOptions extends GlobalOptions {
  /** The names of servers, `all` or `none`. */
  readonly import?: readonly string[];
  /** The names of clients, `all` or `none`. */
  readonly connect?: readonly string[];
  readonly search?: string;
  readonly references?: SecretDestination | true;
  readonly test?: boolean;
  readonly trust?: boolean;
  readonly yes?: boolean;
}

/** Sets up everything: tests the servers of other clients, imports those that work, connects clients, and searches for a first tool. */
export async function runInit(options: InitOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  // Invalid flags are rejected before anything is changed.
  for (const name of options.connect ?? []) if (!/^(?:all|none)$/.test(name)) getConnectableClient(name);
  if (!isInteractive(context) && options.yes !== true)
    throw new GatewayError(
      'USAGE',
      'trunkline init needs a terminal to ask questions, and there is none. Nothing was changed. To set up without questions, run: trunkline init --yes',
    );
  const config = await openEditableConfig(options.config, context);
  const found = await findNewServers(config, context);
  const { tests, corrected } = await testNewServers(selectNamed(found, options), config, {
    options,
    context,
  });
  const steps = found.map((step) => correctStep(step, corrected));
  const connected = await importAndConnect(steps, tests, config, { options, context });
  const signedIn = await offerSignIns(tests, options, context);
  const query = await ask(context, (prompt) => askFirstQuery(options, context, prompt));
  if (query !== undefined) {
    out.line(`\n$ trunkline search ${JSON.stringify(query)}`);
    await runSearch({ config: options.config, limit: 5 }, context, [query]);
  }
  await printHeldSummary({ config: options.config, context });
  const results = tests.map((test) =>
    signedIn.has(test.name) ? { ...test, state: 'ready' as const } : test,
  );
  await printSummary(results, connected, options, context);
  return 0;
}

/** Runs a function with a prompt for the terminal, or with undefined if there is no terminal. Hides progress meanwhile. */
async function ask<T>(
  context: CliContext,
  work: (prompt: TerminalPrompt | undefined) => Promise<T>,
): Promise<T> {
  using prompt = openTerminalPrompt(context);
  return await work(prompt);
}

interface InitScope {
  readonly options: InitOptions;
  readonly context: CliContext;
}

async function findNewServers(config: EditableConfig, context: CliContext): Promise<readonly ImportStep[]> {
  const { out } = context;
  const { found, leftOut } = await findImportableServers(undefined, context);
  noteUnreadableFiles(found, context);
  noteLeftOutFiles(leftOut, context);
  const steps = planImport(found, {
    servers: config.document.servers,
    identity: getOwnIdentity(context, config.document.text),
    onConflict: 'keep',
    configFile: config.file,
  });
  if (steps.length === 0) out.line('No other client on this machine has servers.');
  else {
    out.line('Servers of other clients on this machine:\n');
    printImportPlan(steps, context);
    noteRemarks(steps, context);
  }
  const newSteps = steps.filter(({ state }) => state === 'new');
  if (steps.length > 0 && newSteps.length === 0) out.line('\nThere are no new servers.');
  return newSteps;
}

interface TestedServers {
  /** Empty if nothing was tested. */
  readonly tests: readonly ServerTest[];
  /** The entries that the person corrected, by name. */
  readonly corrected: ReadonlyMap<string, JsonObject>;
}

/** Connects to the new servers, and offers to store the values that they lack and to correct their entries. */
async function testNewServers(
  steps: readonly ImportStep[],
  config: EditableConfig,
  { options, context }: InitScope,
): Promise<TestedServers> {
  const { out } = context;
  const corrected = new Map<string, JsonObject>();
  if (steps.length === 0 || options.test === false) return { tests: [], corrected };
  const isAsked = options.yes !== true && options.import === undefined;
  const question = `\nTest ${formatCount(steps.length, 'server')} now? This starts the programs above, as your clients do.`;
  const isAccepted = await ask(context, async (prompt) =>
    isAsked && prompt !== undefined ? prompt.confirm(question) : true,
  );
  if (!isAccepted) return { tests: [], corrected };
  if (!isAsked)
    out.note(
      `Testing ${formatCount(steps.length, 'server')}, which starts the programs above. To skip this, use --no-test.`,
    );
  const entries = Object.fromEntries(steps.flatMap(({ as, entry }) => (entry ? [[as, entry] as const] : [])));
  const tests = await testServers(entries, config, context, new Set(Object.keys(entries)));
  out.line('');
  printServerTests(tests, context);
  if (!isAsked) return { tests, corrected };
  const fixes = await ask(context, (prompt) => offerFixes({ tests, entries }, config, { context, prompt }));
  if (fixes.fixed.length === 0) return { tests, corrected };
  const latest = { ...entries, ...Object.fromEntries(fixes.corrected) };
  const second = await testServers(latest, config, context, new Set(fixes.fixed.map(({ name }) => name)));
  printServerTests(second, context);
  const results = tests.map((test) => second.find(({ name }) => name === test.name) ?? test);
  return { tests: results, corrected: fixes.corrected };
}

/** Offers to store missing values and to correct entries. Returns the tests of the servers for which that was done. */
async function offerFixes(
  {
    tests,
    entries,
  }: { readonly tests: readonly ServerTest[]; readonly entries: Readonly<Record<string, JsonObject>> },
  config: EditableConfig,
  { context, prompt }: { readonly context: CliContext; readonly prompt: TerminalPrompt | undefined },
): Promise<{
  readonly fixed: readonly ServerTest[];
  readonly corrected: ReadonlyMap<string, JsonObject>;
}> {
  if (prompt === undefined) return { fixed: [], corrected: new Map() };
  const stored = await storeMissingSecrets(tests, config, { context, prompt });
  const wrong = tests.filter((test) => test.state === 'failed' && findMissingSecret(test) === undefined);
  const corrected = await correctEntries(pickEntries(wrong, entries), {
    configFile: config.file,
    context,
    prompt,
  });
  const fixed = tests.filter((test) => corrected.has(test.name) || stored.has(findMissingSecret(test) ?? ''));
  return { fixed, corrected };
}

function pickEntries(
  tests: readonly ServerTest[],
  entries: Readonly<Record<string, JsonObject>>,
): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(tests.map(({ name }) => [name, entries[name] ?? {}]));
}

function correctStep(step: ImportStep, corrected: ReadonlyMap<string, JsonObject>): ImportStep {
  const entry = corrected.get(step.as);
  return entry === undefined
    ? step
    : { ...step, original: step.entry, entry, secrets: findPlaintextSecrets(step.as, entry) };
}

/** Asks for the values that servers lack. Returns the names of the stored values. */
async function storeMissingSecrets(
  tests: readonly ServerTest[],
  config: EditableConfig,
  { context, prompt }: { readonly context: CliContext; readonly prompt: TerminalPrompt },
): Promise<ReadonlySet<string>> {
  const stored = new Set<string>();
  const missing = new Set(tests.flatMap((test) => findMissingSecret(test) ?? []));
  if (missing.size === 0) return stored;
  await using secrets = await openDraftSecrets(config, context);
  for (const name of missing) {
    const users = tests.filter((test) => findMissingSecret(test) === name).map((test) => test.name);
    const value = await prompt.secret(
      `\nType or paste the value of ${name} for ${toOneLine(users.join(', '))}. It is not shown. [Enter to skip]`,
    );
    if (value === '') continue;
    const { place } = await secrets.write(name, value);
    context.out.note(`Stored ${name} in ${describeSecretPlace(place)}.`);
    stored.add(name);
  }
  return stored;
}

/** Asks all questions, then imports the chosen servers and connects the chosen clients. Returns the titles of those clients. */
async function importAndConnect(
  steps: readonly ImportStep[],
  tests: readonly ServerTest[],
  config: EditableConfig,
  { options, context }: InitScope,
): Promise<readonly string[]> {
  const { out } = context;
  return ask(context, async (prompt) => {
    const chosen = await chooseServers(steps, tests, { options, context, prompt });
    const servers = chosen.flatMap(({ as, entry, secrets }) =>
      entry === undefined ? [] : [{ name: as, entry, secrets }],
    );
    const originals = new Map(
      chosen.flatMap(({ as, original }) => (original === undefined ? [] : [[as, original] as const])),
    );
    const clients = await chooseClients(options, context, prompt);
    const plans = await planClients(clients, { servers, originals, config }, { options, context, prompt });
    if (servers.length > 0) {
      const references = options.references ?? (options.yes === true ? 'file' : undefined);
      const trust = isInteractive(context) || options.trust === true ? 'first-sight' : 'manual';
      const applied = await addServers(config, servers, { trust, references }, { context, prompt });
      const { place } = describeStorage(config.file, applied);
      out.line(`Added ${formatCount(servers.length, 'server')} to ${place}`);
      noteApplied(applied, config, context);
    } else if (config.document.isNew && steps.length === 0) await config.save([]); // The user expects the file to exist after `init`.
    return applyClientPlans(plans, originals, { options, context });
  });
}

/** Lets the person choose servers. A server that failed its test is imported only if the person names it or answers `all`. */
async function chooseServers(
  steps: readonly ImportStep[],
  tests: readonly ServerTest[],
  { options, context, prompt }: InitScope & { readonly prompt: TerminalPrompt | undefined },
): Promise<readonly ImportStep[]> {
  const failed = new Set(tests.filter(({ state }) => state === 'failed').map(({ name }) => name));
  const working = steps.filter(({ as }) => !failed.has(as));
  if (steps.length === 0) return [];
  if (options.import !== undefined) return selectNamed(steps, options);
  if (prompt === undefined || options.yes === true) return working;
  const choices =
    failed.size === 0
      ? 'Enter for all; none'
      : `Enter for the ${working.length} without a failure; all, none`;
  if (failed.size > 0)
    context.out.prose(
      '\nThe commands above work for imported servers. To import the servers that failed as well, answer all.',
    );
  for (;;) {
    const answer = await prompt.text(
      `\nImport ${formatCount(steps.length, 'new server')}? [${choices}, or names separated by commas]`,
    );
    if (/^(?:y|yes)?$/i.test(answer)) return working;
    if (/^all$/i.test(answer)) return steps;
    if (/^(?:n|no|none)$/i.test(answer)) return [];
    const names = answer.split(/[\s,]+/).filter((name) => name !== '');
    const unknown = names.filter((name) => !steps.some(({ as }) => as === name));
    if (unknown.length === 0) return steps.filter(({ as }) => names.includes(as));
    context.out.note(`No new server has the name ${unknown.join(', ')}.`);
  }
}

/** Returns the servers that `--import` names, or all. */
function selectNamed(
  steps: readonly ImportStep[],
  { import: names = ['all'] }: InitOptions,
): readonly ImportStep[] {
  return names.includes('all') ? steps : steps.filter(({ as }) => names.includes(as));
}

/** Offers the sign-ins that imported servers need. Returns the servers to which the person has signed in. */
async function offerSignIns(
  tests: readonly ServerTest[],
  options: InitOptions,
  context: CliContext,
): Promise<ReadonlySet<string>> {
  const signedIn = new Set<string>();
  const { document } = await openEditableConfig(options.config, context);
  for (const { name, state } of tests) {
    if (state !== 'sign-in' || !document.servers.has(name)) continue;
    const isWanted =
      options.yes !== true &&
      (await ask(context, async (prompt) => (await prompt?.confirm(`\nSign in to ${name} now?`)) ?? false));
    if (!isWanted) context.out.note(`Sign in later with: trunkline login ${quoteShellWord(name)}`);
    else
      await runLogin({ config: options.config }, context, [name]).then(
        () => signedIn.add(name),
        (error: unknown) => {
          if (!(error instanceof GatewayError)) throw error;
          context.out.problem(error);
        },
      );
  }
  return signedIn;
}

async function askFirstQuery(
  options: InitOptions,
  context: CliContext,
  prompt: TerminalPrompt | undefined,
): Promise<string | undefined> {
  if (options.search !== undefined) return options.search === '' ? undefined : options.search;
  const { document } = await openEditableConfig(options.config, context);
  if (prompt === undefined || options.yes === true || document.servers.size === 0) return undefined;
  const answer = await prompt.text(
    '\nWhat would you like to do first? Trunkline searches for matching tools. [Enter for none]',
  );
  return answer === '' ? undefined : answer;
}

/** Prints how many servers work, how many clients are connected, and how many tokens the tools cost per chat. */
async function printSummary(
  tests: readonly ServerTest[],
  connected: readonly string[],
  options: InitOptions,
  context: CliContext,
): Promise<void> {
  const { out } = context;
  const others = tests.filter(({ state }) => state !== 'ready').map(({ name }) => toOneLine(name));
  const ready = tests.length - others.length;
  const parts = tests.length === 0 ? [] : [`${ready} of ${formatCount(tests.length, 'server')} work`];
  if (others.length > 0)
    parts.push(
      `${others.length} ${others.length === 1 ? 'needs' : 'need'} your attention (${others.join(', ')})`,
    );
  parts.push(`${formatCount(connected.length, 'client')} connected`);
  const cost = await measureListing(options, context);
  if (cost !== undefined && cost.whole > 0) {
    const [whole, menu] = [cost.whole, cost.menu].map((tokens) => tokens.toLocaleString('en'));
    parts.push(`${whole} → ${menu} tokens per chat`);
  }
  out.line('');
  out.prose(`Done: ${parts.join(', ')}.`);
  if (connected.length > 0) out.prose(`Restart ${connected.join(', ')} to apply the change.`);
  out.line('List your servers with: trunkline servers\nSee all commands with: trunkline --help');
}

/** Estimates the tokens that the definitions of all listed tools cost. Returns undefined on a failure, because the summary can omit them. */
async function measureListing(options: InitOptions, context: CliContext) {
  try {
    await using gateway = await openGatewayConnection(context, {
      config: options.config,
      gateway: 'any',
    });
    return await gateway.client.request('GET /api/tokens/listing', {});
  } catch {
    return undefined;
  }
}
