import { signal } from '@preact/signals';

type JsonObject = Readonly<Record<string, unknown>>;

/** The arguments of an earlier call, without secrets. */
export interface RememberedCall {
  readonly at: number;
  readonly args: JsonObject;
  /** Whether the user keeps the call. Others are forgotten when newer ones take their place. */
  readonly isKept: boolean;
}

/** The earlier calls of every tool. They are stored in this browser only, and deleted when the user signs out. */
export interface CallHistory {
  /** The calls of a tool: those that are kept, then the newest first. */
  readonly of: (tool: string) => readonly RememberedCall[];
  readonly add: (tool: string, args: JsonObject, at: number) => void;
  readonly setKept: (tool: string, call: RememberedCall, isKept: boolean) => void;
  readonly remove: (tool: string, call: RememberedCall) => void;
  readonly clear: () => void;
}

const STORAGE_KEY = 'trunkline.calls';
const MAX_RECENT = 10;
const MAX_KEPT = 20;
const MAX_TOOLS = 100;
/** Longer arguments are not remembered, because the storage of a browser is small. */
const MAX_ARGS_CHARS = 5000;

type Stored = Readonly<Record<string, readonly RememberedCall[]>>;

export function createCallHistory(storage: () => Storage): CallHistory {
  /** Changes with the stored calls, so that components that show them are rendered again. */
  const changes = signal(0);
  const write = (tool: string, calls: readonly RememberedCall[]): void => {
    const { [tool]: _, ...others } = readStored(storage);
    // The tool that was used last is first; the others keep their order.
    const tools = calls.length === 0 ? Object.entries(others) : [[tool, calls], ...Object.entries(others)];
    changes.value = changes.peek() + 1;
    try {
      storage().setItem(STORAGE_KEY, JSON.stringify(Object.fromEntries(tools.slice(0, MAX_TOOLS))));
    } catch {
      // Best effort: the storage is full or not allowed.
    }
  };
  const of = (tool: string): readonly RememberedCall[] => {
    void changes.value;
    const stored = readStored(storage);
    return Object.hasOwn(stored, tool) ? (stored[tool] ?? []) : [];
  };
  const without = (tool: string, { args }: RememberedCall): readonly RememberedCall[] =>
    of(tool).filter((call) => !isEqual(call.args, args));
  return {
    of,
    add(tool, args, at) {
      if (JSON.stringify(args).length > MAX_ARGS_CHARS || Object.keys(args).length === 0) return;
      const isKept = of(tool).find((call) => isEqual(call.args, args))?.isKept ?? false;
      const call = { at, args, isKept };
      write(tool, limit([call, ...without(tool, call)]));
    },
    setKept(tool, call, isKept) {
      write(tool, limit([{ ...call, isKept }, ...without(tool, call)]));
    },
    remove: (tool, call) => write(tool, without(tool, call)),
    clear() {
      try {
        storage().removeItem(STORAGE_KEY);
      } catch {
        // Best effort: without a storage, nothing is stored.
      }
    },
  };
}

function limit(calls: readonly RememberedCall[]): readonly RememberedCall[] {
  const newestFirst = calls.toSorted((a, b) => b.at - a.at);
  return [
    ...newestFirst.filter(({ isKept }) => isKept).slice(0, MAX_KEPT),
    ...newestFirst.filter(({ isKept }) => !isKept).slice(0, MAX_RECENT),
  ];
}

/** Reads the stored calls. Another version, or the user, may have written anything. */
function readStored(storage: () => Storage): Stored {
  try {
    const value: unknown = JSON.parse(storage().getItem(STORAGE_KEY) ?? '{}');
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).flatMap(([tool, calls]) =>
        Array.isArray(calls) ? [[tool, calls.filter(isRememberedCall)]] : [],
      ),
    );
  } catch {
    return {};
  }
}

function isRememberedCall(value: unknown): value is RememberedCall {
  if (typeof value !== 'object' || value === null) return false;
  const { at, args, isKept } = value as Partial<RememberedCall>; // Each member is checked here.
  return (
    typeof at === 'number' &&
    typeof isKept === 'boolean' &&
    typeof args === 'object' &&
    args !== null &&
    !Array.isArray(args)
  );
}

function isEqual(one: JsonObject, other: JsonObject): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
