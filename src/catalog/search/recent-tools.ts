import type { ToolEntry } from '../../core/entry.ts';

const MAX_CALLERS = 500;
const MAX_TOOLS = 32;

/**
 * Remembers the tools that each caller used last, within fixed limits. Only their order matters and not the time, so the
 * same usage gives the same search results.
 */
export class RecentTools {
  /** Tool names by caller. Both the names and the callers are ordered, least recently used first. */
  readonly #used = new Map<string, Set<string>>();

  /** The last addition, to skip repeated calls of one tool. */
  #last: readonly [caller: string, tool: string] | undefined;

  add(caller: string, tool: string): void {
    if (this.#last?.[0] === caller && this.#last[1] === tool) return; // The tool is at the end already.
    this.#last = [caller, tool];
    const tools = this.#used.get(caller) ?? new Set();
    tools.delete(tool);
    tools.add(tool);
    evictOldest(tools, MAX_TOOLS);
    this.#used.delete(caller);
    this.#used.set(caller, tools);
    evictOldest(this.#used, MAX_CALLERS);
  }

  has(caller: string): boolean {
    return this.#used.has(caller);
  }

  /** Returns a function that rates a tool from 1 (used last) to 0 (not used); undefined for a caller that used none. */
  prior(caller: string): ((entry: ToolEntry) => number) | undefined {
    const tools = this.#used.get(caller);
    if (tools === undefined) return undefined;
    const positions = new Map([...tools].toReversed().map((name, at) => [name, at]));
    return ({ name }) => {
      const position = positions.get(name);
      return position === undefined ? 0 : 1 - position / MAX_TOOLS;
    };
  }
}

function evictOldest(
  all: { readonly size: number; keys(): Iterator<string>; delete(key: string): boolean },
  most: number,
): void {
  if (all.size <= most) return;
  const first = all.keys().next();
  if (first.done !== true) all.delete(first.value);
}
