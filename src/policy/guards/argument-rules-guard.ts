import type { ArgumentRule } from '../../config/guards-config.ts';
import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import { compileBoundedPattern } from '../../core/lib/bounded-pattern-search.ts';
import { matchesGlob } from '../../core/lib/matches-glob.ts';
import type { Guard } from '../guard.ts';

/** Maximum depth up to which the path of an argument grows; deeper values are reported with the path of their ancestor. */
const MAX_PATH_DEPTH = 30;
/** Maximum number of tools whose applicable rules are cached. */
const MAX_CACHED_TOOLS = 20_000;

interface CompiledRule extends ArgumentRule {
  readonly matches: (text: string) => boolean;
}

/** Rejects calls whose arguments match a rule. A tool without rules costs one map lookup per call. */
export function argumentRulesGuard(rulesOf: (upstream: UpstreamName) => readonly ArgumentRule[]): Guard {
  const compiledRules = new Map<ArgumentRule, CompiledRule>();
  const rulesByTool = new Map<string, readonly CompiledRule[]>();
  const compile = (rule: ArgumentRule): CompiledRule => {
    let compiled = compiledRules.get(rule);
    if (compiled === undefined)
      compiledRules.set(rule, (compiled = { ...rule, matches: compileBoundedPattern(rule.pattern) }));
    return compiled;
  };
  const rulesFor = (upstream: UpstreamName, tool: string): readonly CompiledRule[] => {
    const key = `${upstream}\n${tool}`;
    let rules = rulesByTool.get(key);
    if (rules === undefined) {
      rules = rulesOf(upstream)
        .filter(({ servers, tools }) => matchesGlobs(servers, upstream) && matchesGlobs(tools, tool))
        .map(compile);
      if (rulesByTool.size >= MAX_CACHED_TOOLS) rulesByTool.clear();
      rulesByTool.set(key, rules);
    }
    return rules;
  };
  return (call, next) => {
    const { upstream, params, kind } = call.operation;
    const tool = params['name'];
    if (kind !== 'tool' || typeof tool !== 'string') return next(call);
    const rules = rulesFor(upstream, tool);
    const match = rules.length === 0 ? undefined : findMatch(rules, params['arguments']);
    return match === undefined ? next(call) : Promise.reject(refusedArgumentError(match));
  };
}

/** Whether a name matches one of the globs, without regard to case. Undefined globs match every name. */
function matchesGlobs(globs: readonly string[] | undefined, name: string): boolean {
  if (globs === undefined) return true;
  const lowerCaseName = name.toLowerCase();
  return globs.some((glob) => matchesGlob(lowerCaseName, glob.toLowerCase()));
}

interface RuleMatch {
  readonly rule: ArgumentRule;
  readonly path: string;
}

/** A value inside the arguments, with the rules that apply to it. */
interface ArgumentNode {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
  readonly rules: readonly CompiledRule[];
}

/**
 * Returns the first match in the order of the arguments (depth first). A rule that names an argument also applies to all values inside
 * it. The search uses its own stack, because a client decides how deeply arguments are nested.
 */
function findMatch(rules: readonly CompiledRule[], args: unknown): RuleMatch | undefined {
  const unnamed = rules.filter(({ arguments: names }) => names === undefined);
  const stack: ArgumentNode[] = [{ value: args, path: '', depth: 0, rules: unnamed }];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const text = searchableText(node.value);
    const rule = text === undefined ? undefined : node.rules.find(({ matches }) => matches(text));
    if (rule !== undefined) return { rule, path: node.path };
    for (const child of childNodes(node, rules).toReversed()) stack.push(child);
  }
  return undefined;
}

function childNodes(node: ArgumentNode, rules: readonly CompiledRule[]): readonly ArgumentNode[] {
  const { value, depth } = node;
  if (Array.isArray(value)) return value.map((item: unknown) => ({ ...node, value: item }));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).map(([key, member]) => {
    const path = depth > MAX_PATH_DEPTH ? node.path : node.path === '' ? key : `${node.path}.${key}`;
    const memberRules = rules.filter(
      (rule) =>
        node.rules.includes(rule) ||
        matchesGlobs(rule.arguments, path) ||
        matchesGlobs(rule.arguments, key.slice(key.lastIndexOf('.') + 1)),
    );
    return { value: member, path, depth: depth + 1, rules: memberRules };
  });
}

/** Returns the text that patterns are matched against. An array of strings is joined, because it may be a command line in words. */
function searchableText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!Array.isArray(value)) return undefined;
  return value.every((item) => typeof item === 'string') ? value.join(' ') : undefined;
}

function refusedArgumentError({ rule: { id, message }, path }: RuleMatch): GatewayError {
  const explanation = message === undefined ? '' : ` ${message}`;
  return new GatewayError(
    'ARGUMENTS_REFUSED',
    `The rule "${id}" refuses the argument "${path}"; nothing was sent.${explanation} Ask the user whether it is intended; the setting argumentRules controls this.`,
    { details: { rule: id, argument: path } },
  );
}
