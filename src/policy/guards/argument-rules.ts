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

function metBy(rules: readonly Compiled[], args: unknown): Met | undefined {
  const look = (value: unknown, path: string, depth: number): Met | undefined => {
    if (typeof value === 'string') return inText(rules, value, path);
    if (depth > MAX_DEPTH) return undefined;
    if (Array.isArray(value)) {
      // Words of a command line may be apart.
      const words = value.every((one) => typeof one === 'string')
        ? inText(rules, value.join(' '), path)
        : undefined;
      return words ?? first(value, (one) => look(one, path, depth + 1));
    }
    if (!isJsonObject(value)) return undefined;
    return first(Object.entries(value), ([key, member]) =>
      look(member, path === '' ? key : `${path}.${key}`, depth + 1),
    );
  };
  return look(args, '', 0);
}

function inText(rules: readonly Compiled[], text: string, path: string): Met | undefined {
  const last = path.slice(path.lastIndexOf('.') + 1);
  const rule = rules.find(
    (each) => (names(each.arguments, path) || names(each.arguments, last)) && each.isIn(text),
  );
  return rule === undefined ? undefined : { rule, path };
}

function first<T>(of: readonly T[], look: (one: T) => Met | undefined): Met | undefined {
  for (const one of of) {
    const met = look(one);
    if (met !== undefined) return met;
  }
  return undefined;
}

function refusal({ rule: { id, message }, path }: Met): GatewayError {
  const why = message === undefined ? '' : ` ${message}`;
  return new GatewayError(
    'ARGUMENTS_REFUSED',
    `The rule "${id}" refuses the argument "${path}"; nothing was sent.${why} Ask the person if it is meant; argumentRules in the configuration decides.`,
    { details: { rule: id, argument: path } },
  );
}
