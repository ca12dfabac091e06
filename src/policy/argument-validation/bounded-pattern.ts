import type { StepBudget } from './step-budget.ts';

const MAX_PATTERN_LENGTH = 500;
/** Maximum number of estimated steps of one match. They take a few milliseconds. */
const MAX_STEPS = 1e6;
/** Number of match steps that take as long as one step of the budget. */
const MATCH_STEPS_PER_STEP = 20;
/** Budget steps for compiling, which takes about 1 µs per character and 100 µs per Unicode class. */
const COMPILE_STEPS_PER_CHAR = 10;
const COMPILE_STEPS_PER_CLASS = 1_000;

/** Returns whether a text matches, or undefined if the match could take too long or the pattern cannot be compiled. */
export type BoundedPattern = (text: string, budget: StepBudget) => boolean | undefined;

/** Compiles a regular expression of a server. The returned function refuses matches that could block the gateway. */
export function createBoundedPattern(source: string, budget: StepBudget): BoundedPattern {
  const estimateSteps = createStepEstimate(source);
  if (estimateSteps === undefined) return () => undefined;
  const classes = source.match(/\\p/gi)?.length ?? 0;
  budget.spend(source.length * COMPILE_STEPS_PER_CHAR + classes * COMPILE_STEPS_PER_CLASS);
  const pattern = compilePattern(source);
  if (pattern === undefined) return () => undefined;
  return (text, callBudget) => {
    const steps = estimateSteps(text.length);
    if (steps > MAX_STEPS) return undefined;
    callBudget.spend(1 + Math.floor(steps / MATCH_STEPS_PER_STEP));
    return pattern.test(text);
  };
}

function compilePattern(source: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags);
    } catch {
      // Many patterns are valid only without the flag `u`; invalid ones are left to the server.
    }
  }
  return undefined;
}

/**
 * Returns an upper bound for the steps of a match, as a function of the text's length. Each repetition can
 * end at any position of the text, which multiplies the steps by the length of the text. Each alternative or
 * `?` doubles them. Returns undefined if no bound is known.
 */
function createStepEstimate(source: string): ((length: number) => number) | undefined {
  // Repeated groups and back-references may take exponential time, and finding those that do not would need a complete analysis.
  if (source.length > MAX_PATTERN_LENGTH || /\)[*+{]|\\[1-9k]/.test(source)) return undefined;
  // Escapes and character classes match one character each. They are replaced, because they may contain signs
  // that would be counted below.
  const plain = source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/gs, 'x');
  const repeats = plain.match(/[*+{]/g)?.length ?? 0;
  const alternatives = plain.match(/\|/g)?.length ?? 0;
  const choices = (plain.match(/\?/g)?.length ?? 0) + alternatives;
  // A match is tried at every position of the text, unless the expression is anchored to the start.
  const starts = plain.startsWith('^') && alternatives === 0 ? 0 : 1;
  return (length) => (length + 1) ** (repeats + starts) * 2 ** choices;
}
