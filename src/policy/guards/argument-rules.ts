import type { ArgumentRule } from '../../config/guards-config.ts';
import { boundedSearch } from '../../lib/bounded-search.ts';
import { matchesGlob } from '../../lib/glob.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { isJsonObject } from '../../model/json.ts';
import type { Guard } from '../call.ts';

const MAX_DEPTH = 30;
/** Tools for which it is known which rules concern them. */
const MAX_KEPT = 20_000;

interface Compiled extends ArgumentRule {
  readonly isIn: (text: string) => boolean;
}

/** Calls with arguments that a rule describes are not made. Tools that no rule speaks of cost one look into a map. */
export function argumentRules(rulesOf: (upstream: UpstreamName) => readonly ArgumentRule[]): Guard {
  const compiled = new Map<ArgumentRule, Compiled>();
  const known = new Map<string, readonly Compiled[]>();
  const compile = (rule: ArgumentRule): Compiled => {
    let own = compiled.get(rule);
    if (own === undefined) compiled.set(rule, (own = { ...rule, isIn: boundedSearch(rule.pattern) }));
    return own;
  };
  const rulesFor = (upstream: UpstreamName, tool: string): readonly Compiled[] => {
    const key = `${upstream}\n${tool}`;
    let own = known.get(key);
    if (own === undefined) {
      own = rulesOf(upstream)
        .filter(({ servers, tools }) => names(servers, upstream) && names(tools, tool))
        .map(compile);
      if (known.size >= MAX_KEPT) known.clear();
      known.set(key, own);
    }
    return own;
  };
  return (call, next) => {
    const { upstream, params, kind } = call.operation;
    const tool = params['name'];
    if (kind !== 'tool' || typeof tool !== 'string') return next(call);
    const rules = rulesFor(upstream, tool);
    const met = rules.length === 0 ? undefined : metBy(rules, params['arguments']);
    return met === undefined ? next(call) : Promise.reject(refusal(met));
  };
}

function names(globs: readonly string[] | undefined, name: string): boolean {
  if (globs === undefined) return true;
  const plain = name.toLowerCase();
  return globs.some((glob) => matchesGlob(plain, glob.toLowerCase()));
}

interface Met {
  readonly rule: ArgumentRule;
  readonly path: string;
}

/** Whatever is below an argument that a rule names is meant as well, however deep it lies. */
function metBy(rules: readonly Compiled[], args: unknown): Met | undefined {
  const left: Place[] = [{ value: args, path: '', depth: 0, concern: rules.filter(concernsAll) }];
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const { value, path, concern } = place;
    const text = textOf(value);
    const rule = text === undefined ? undefined : concern.find(({ isIn }) => isIn(text));
    if (rule !== undefined) return { rule, path };
    for (const member of membersOf(place, rules).toReversed()) left.push(member);
  }
  return undefined;
}

interface Place {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
  /** The rules that speak of it. */
  readonly concern: readonly Compiled[];
}

function concernsAll({ arguments: named }: Compiled): boolean {
  return named === undefined;
}

function membersOf(place: Place, rules: readonly Compiled[]): readonly Place[] {
  const { value, depth } = place;
  if (Array.isArray(value)) return value.map((one: unknown) => ({ ...place, value: one }));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).map(([key, member]) => {
    // A path that goes on for ever says no more than its beginning.
    const path = depth > MAX_DEPTH ? place.path : place.path === '' ? key : `${place.path}.${key}`;
    const concern = rules.filter(
      (rule) =>
        place.concern.includes(rule) || names(rule.arguments, path) || names(rule.arguments, lastOf(key)),
    );
    return { value: member, path, depth: depth + 1, concern };
  });
}

function lastOf(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

/** What a pattern is looked for in; words of a command line may be apart. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!Array.isArray(value)) return undefined;
  return value.every((one) => typeof one === 'string') ? value.join(' ') : undefined;
}

function refusal({ rule: { id, message }, path }: Met): GatewayError {
  const why = message === undefined ? '' : ` ${message}`;
  return new GatewayError(
    'ARGUMENTS_REFUSED',
    `The rule "${id}" refuses the argument "${path}"; nothing was sent.${why} Ask the person if it is meant; argumentRules in the configuration decides.`,
    { details: { rule: id, argument: path } },
  );
}
