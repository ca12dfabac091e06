import type { ConfigEdit } from '../../config/file/edit.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Registry } from '../../registry/registry.ts';
import { registryEntry } from '../../registry/registry-entry.ts';
import { renewedEntry } from '../../registry/renewed-entry.ts';
import type { RenewedEntry } from '../../registry/renewed-entry.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { counted } from './listing.ts';
import { askAtTerminal, cannotAsk, isTerminal } from './set-up/ask.ts';
import { configChange, entryOf, tellRunning } from './set-up/config-change.ts';
import type { ConfigChange } from './set-up/config-change.ts';
import { chosenRegistry } from './set-up/from-registry.ts';

interface RegistryUpdateOptions extends GlobalOptions {
  readonly registry?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** One server of the configuration, and what the registry says about it now. */
interface Looked {
  readonly server: string;
  readonly registry: string;
  readonly state: 'current' | 'outdated' | 'unusable';
  readonly version?: string;
  readonly newest?: string;
  readonly reason?: string;
  /** Variables that are new, and have to be set. */
  readonly needs?: readonly string[];
  /** What is run or reached now, and what would be. */
  readonly reached?: RenewedEntry['reached'];
  /** What it no longer has, since it was for another host. */
  readonly dropped?: readonly string[];
  /** Whether it waits for a person afterwards. */
  readonly held?: boolean;
  readonly changes?: JsonObject;
}

/** Brings servers that came from the registry to their newest versions. */
export async function registryUpdate(
  options: RegistryUpdateOptions,
  context: CliContext,
  names: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const change = await configChange(options.config, context);
  const chosen = chosenServers(change, names);
  const registry = chosenRegistry(options, context);
  const looked = await out.during('Asking the registry', () =>
    Promise.all(chosen.map((each) => look(each, registry, isTerminal(context)))),
  );
  const outdated = looked.filter(({ state }) => state === 'outdated');
  const isJson = out.style.format === 'json';
  const tell = (applied: boolean): void => {
    if (isJson)
      out.json({
        config: change.file,
        applied,
        servers: looked.map(({ changes: _changes, ...rest }) => rest),
      });
  };
  if (!isJson) print(looked, context);
  if (outdated.length === 0 || options.dryRun === true || !(await isWanted(outdated, options, context))) {
    tell(false);
    return 0;
  }
  await change.save(outdated.flatMap(editsOf));
  tell(true);
  if (!isJson) out.line(`Updated ${counted(outdated.length, 'server')} in ${change.file}`);
  tellNeeds(outdated, context);
  await tellRunning(change, context);
  return 0;
}

interface Chosen {
  readonly server: string;
  readonly registry: string;
  readonly entry: JsonObject;
}

function chosenServers(change: ConfigChange, names: readonly string[]): readonly Chosen[] {
  const wanted = names.length === 0 ? [...change.document.servers.keys()] : names;
  const found = wanted.flatMap((server) => {
    const entry = entryOf(change, server);
    const registry = isJsonObject(entry) ? entry['registry'] : undefined;
    return isJsonObject(entry) && typeof registry === 'string' ? [{ server, registry, entry }] : [];
  });
  const missing = wanted.find((server) => !found.some((each) => each.server === server));
  if (names.length === 0 || missing === undefined) return found;
  throw new GatewayError(
    'USAGE',
    `Server "${missing}" does not say which server of the registry it is. Give its entry "registry": "NAME", or replace it: trunkline add ${missing} --from-registry NAME --replace`,
  );
}

async function look(
  { server, registry: name, entry }: Chosen,
  registry: Registry,
  isPerson: boolean,
): Promise<Looked> {
  const about = { server, registry: name };
  try {
    const found = await registry.server(name);
    const fresh = registryEntry(found);
    const renewed = 'problem' in fresh ? fresh : renewedEntry(entry, fresh);
    if ('problem' in renewed) return { ...about, state: 'unusable', reason: renewed.problem };
    const { changes, version, added, isOtherKind, reached, dropped } = renewed;
    const isSame = Object.keys(changes).length === 0;
    // Nobody at a terminal has seen that it is something else now.
    const held = !isPerson && (isOtherKind || isElsewhere(reached));
    const kind = entry['command'] === undefined ? 'an address' : 'a program';
    return {
      ...about,
      ...(version !== undefined && { version }),
      newest: found.version,
      ...(isSame
        ? { state: 'current' }
        : { state: 'outdated', changes: held ? { ...changes, trust: 'manual' } : changes }),
      ...(reached !== undefined && { reached }),
      ...(dropped !== undefined && { dropped }),
      ...(held && { held }),
      ...(isOtherKind && { reason: `it is no longer ${kind}; what was set for that goes` }),
      ...(added.length > 0 && { needs: added }),
    };
  } catch (error) {
    // One that is gone keeps nobody from the others; a registry that is gone does.
    if (!(error instanceof GatewayError) || error.code !== 'ENTRY_NOT_FOUND') throw error;
    return { ...about, state: 'unusable', reason: 'the registry does not have it any more' };
  }
}

/** Whether it is an address of another path or host; a newer version of a package is what was asked for. */
function isElsewhere(reached: Looked['reached']): boolean {
  return reached !== undefined && URL.canParse(reached.to);
}

async function isWanted(
  outdated: readonly Looked[],
  { yes }: RegistryUpdateOptions,
  context: CliContext,
): Promise<boolean> {
  if (yes === true) return true;
  const what = counted(outdated.length, 'server');
  using ask = askAtTerminal(context);
  if (ask === undefined)
    throw cannotAsk(
      `${what} would be updated.`,
      '--yes updates them, --dry-run only shows what would be done',
    );
  const isAgreed = await ask.confirm(`Update ${what}?`);
  if (!isAgreed) context.out.note('Nothing was changed.');
  return isAgreed;
}

function editsOf({ server, changes = {} }: Looked): readonly ConfigEdit[] {
  return Object.entries(changes).map(([key, value]) => ({ path: ['mcpServers', server, key], value }));
}

function print(looked: readonly Looked[], { out }: CliContext): void {
  if (looked.length === 0) {
    out.line('No server came from the registry. Find one with: trunkline registry search TEXT');
    return;
  }
  const { bold, dim, green, yellow, red } = out.paint;
  const paints = { current: green, outdated: yellow, unusable: red };
  const head = ['server', 'state', 'version', ''].map((text) => ({ text, paint: dim }));
  const rows = looked.map(({ server, state, version, newest, registry, reason }) => [
    { text: server, paint: bold },
    { text: state, paint: paints[state] },
    inOneLine(
      [version, newest === version ? undefined : newest].filter((each) => each !== undefined).join(' → '),
    ),
    inOneLine(reason, registry),
  ]);
  out.table([head, ...rows]);
  for (const { server, reached, dropped, held } of looked) {
    if (reached !== undefined) out.line(`${server}: ${inOneLine(reached.from)} → ${inOneLine(reached.to)}`);
    if (dropped !== undefined)
      out.line(
        yellow(
          `${server}: ${inOneLine(dropped.join(', '))} ${dropped.length === 1 ? 'was' : 'were'} for the other host and will be removed; set again what the new one may have: trunkline edit ${server}`,
        ),
      );
    if (held === true)
      out.line(
        yellow(`${server}: will wait for a person, since nobody is at a terminal: trunkline approvals`),
      );
  }
}

function tellNeeds(outdated: readonly Looked[], { out }: CliContext): void {
  const needs = outdated.filter(({ needs: names }) => names !== undefined);
  for (const { server, needs: names = [], changes = {} } of needs) {
    const isWritten = [changes['env'], changes['headers']].some(
      (filled) => isJsonObject(filled) && names.some((name) => Object.hasOwn(filled, name)),
    );
    const what = names.length === 1 ? 'it' : 'them';
    // What another host asks for is given to it by a person alone.
    const how = isWritten
      ? `set ${what} where Trunkline is started`
      : `set ${what} with trunkline edit ${server}`;
    out.note(`${server} now asks for ${names.join(', ')}: ${how}.`);
  }
}
