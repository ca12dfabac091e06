import type { ToolEntry } from '../../model/entry.ts';

const MAX_CALLERS = 500;
const MAX_TOOLS = 32;

/**
 * Which tools each caller used lately, as far as memory is given to it. Only their order counts and no clock, so that the
 * same use gives the same searches.
 */
export class RecentTools {
  /** Names by caller, those used last at the end, like the callers themselves. */
  readonly #used = new Map<string, Set<string>>();

  #last: readonly [caller: string, tool: string] | undefined;

  add(caller: string, tool: string): void {
    if (this.#last?.[0] === caller && this.#last[1] === tool) return; // It is at the end already.
    this.#last = [caller, tool];
    const tools = this.#used.get(caller) ?? new Set();
    tools.delete(tool);
    tools.add(tool);
    dropFirst(tools, MAX_TOOLS);
    this.#used.delete(caller);
    this.#used.set(caller, tools);
    dropFirst(this.#used, MAX_CALLERS);
  }

  has(caller: string): boolean {
    return this.#used.has(caller);
  }

  /** From 1 for the tool that was used last to 0 for those that were not. */
  prior(caller: string): ((entry: ToolEntry) => number) | undefined {
    const tools = this.#used.get(caller);
    if (tools === undefined) return undefined;
    const places = new Map([...tools].toReversed().map((name, at) => [name, at]));
    return ({ name }) => {
      const place = places.get(name);
      return place === undefined ? 0 : 1 - place / MAX_TOOLS;
    };
  }
}

function dropFirst(
  all: { readonly size: number; keys(): Iterator<string>; delete(key: string): boolean },
  most: number,
): void {
  if (all.size <= most) return;
  const first = all.keys().next();
  if (first.done !== true) all.delete(first.value);
}
