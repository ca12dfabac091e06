/**
 * The first code that every interpreter runs. It defines the globals of scripts and converts values to JSON and back. It receives
 * the host functions, which exchange only strings and numbers, and hides them from scripts.
 */
export const PRELUDE = String.raw`(function (hostCall, hostLog, hostNames, hostTimer, hostEnded, nonce, dataJson, isDataMarked) {
'use strict';
const { stringify, parse } = JSON;
const { ownKeys } = Reflect;
const BIG = BigInt;
const pendingCalls = new Map();
const timers = new Map();
let lastId = 0;

const toPlainValue = (key, value) => {
  if (typeof value === 'bigint') return nonce + value;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return { name: value.name, message: value.message, ...value };
  if (value instanceof Map || value instanceof Set) return [...value];
  return value;
};
const encode = (value) => stringify(value, toPlainValue);
const MARK = '\uE000';
const restoreNumber = (key, value) => {
  if (typeof value !== 'string' || value[0] !== MARK) return value;
  if (value[1] === MARK) return value.slice(1);
  const digits = value.slice(7);
  return /^-?\d+$/.test(digits) && digits !== '-0' ? BIG(digits) : Number(digits);
};

class ToolError extends Error {
  constructor({ message, ...rest }) {
    super(message);
    Object.assign(this, rest);
  }
}
Object.defineProperty(ToolError.prototype, 'name', { value: 'ToolError', configurable: true, writable: true });

const callFunction = (server, tool, raw) => (args, ...rest) => {
  // The error of a call has the stack of the place that made the call.
  const { stack } = new Error();
  return new Promise((resolve, reject) => {
    const text = encode(args === undefined || args === null ? {} : args);
    if (rest.length > 0 || text === undefined || text[0] !== '{')
      throw new TypeError('A tool takes one object with its arguments: tools.' + (server === undefined ? '' : server + '.') + tool + '({ … })');
    const id = ++lastId;
    const problem = hostCall(id, server, tool, text, raw ? 1 : 0);
    if (problem !== undefined) throw new RangeError(problem);
    pendingCalls.set(id, { resolve, reject, stack });
  });
};

/** Symbols, 'then' and 'toJSON' are read by promises and serialization and are never names of tools. */
const isReserved = (key) => typeof key !== 'string' || key === 'then' || key === 'toJSON';
const toolFunction = (server, tool) => {
  const call = callFunction(server, tool, false);
  call.raw = callFunction(server, tool, true);
  return call;
};
const readOnlyTraps = (names) => ({
  set: () => { throw new TypeError('tools cannot be changed.'); },
  deleteProperty: () => false,
  defineProperty: () => false,
  has: (target, key) => !isReserved(key) && names().includes(key),
  ownKeys: (target) => [...new Set([...ownKeys(target), ...names()])],
  getOwnPropertyDescriptor: (target, key) =>
    Reflect.getOwnPropertyDescriptor(target, key) ??
    (!isReserved(key) && names().includes(key) ? { value: undefined, enumerable: true, configurable: true, writable: true } : undefined),
});
let namesByServer;
const loadNames = () => (namesByServer ??= parse(hostNames()));
const withoutProperties = (call) => {
  Object.setPrototypeOf(call, null);
  for (const key of ownKeys(call)) delete call[key];
  return call;
};
/** A member of tools is a server and can also be called as a tool with that exposed name. */
const serverOf = (name) => {
  const call = callFunction(undefined, name, false);
  return new Proxy(withoutProperties((...args) => call(...args)), {
    ...readOnlyTraps(() => loadNames()[name] ?? []),
    get: (target, key) =>
      isReserved(key) ? undefined : key === 'raw' && loadNames()[name] === undefined ? callFunction(undefined, name, true) : toolFunction(name, key),
  });
};
const tools = new Proxy(Object.create(null), {
  ...readOnlyTraps(() => Object.keys(loadNames())),
  get: (target, key) => (isReserved(key) ? undefined : serverOf(key)),
});

const show = (value) => {
  try {
    if (typeof value === 'string') return value;
    if (typeof value === 'function') return '[function ' + String(value.name ?? '') + ']';
    if (typeof value === 'bigint') return value + 'n';
    if (value instanceof Error) return value.name + ': ' + value.message;
    if (typeof value === 'object' && value !== null)
      return stringify(value, (key, inner) => (typeof inner === 'bigint' ? inner + 'n' : toPlainValue(key, inner))) ?? '[object]';
    return String(value);
  } catch (error) {
    return '[cannot be shown]';
  }
};
let isFull = false;
const log = (...values) => {
  if (!isFull) isFull = hostLog(values.map(show).join(' ')) === 1;
};
const console = { log, info: log, warn: log, error: log, debug: log };
const setTimeout = (callback, ms, ...args) => {
  if (typeof callback !== 'function') throw new TypeError('setTimeout takes a function.');
  const id = ++lastId;
  timers.set(id, () => callback(...args));
  hostTimer(id, Number(ms) || 0);
  return id;
};
const clearTimeout = (id) => { if (timers.delete(id)) hostTimer(id, -1); };
for (const [name, value] of Object.entries({ tools, console, setTimeout, clearTimeout, ToolError }))
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
const read = (json, isMarked) => (isMarked === 1 ? parse(json, restoreNumber) : parse(json));
const data = dataJson === undefined ? undefined : read(dataJson, isDataMarked);
if (dataJson !== undefined) Object.defineProperty(globalThis, 'data', { value: data, writable: true, configurable: true });

const text = (value) => {
  try {
    return String(value);
  } catch (error) {
    return '[cannot be shown]';
  }
};
const describe = (error) => {
  try {
    if (error instanceof Error) {
      const { name, message, stack } = error;
      return stringify({ name: text(name), message: text(message), stack: text(stack) });
    }
  } catch (again) {}
  return stringify({ name: '', message: show(error), stack: '' });
};
return {
  settle(id, isError, json, isMarked) {
    const { resolve, reject, stack } = pendingCalls.get(id);
    pendingCalls.delete(id);
    let value;
    try {
      value = read(json, isMarked);
    } catch (error) {
      return void reject(error);
    }
    if (isError === 1) reject(Object.defineProperty(new ToolError(value), 'stack', { value: stack }));
    else resolve(value);
  },
  fire(id) {
    const callback = timers.get(id);
    timers.delete(id);
    callback?.();
  },
  async watch(promise, isScript) {
    try {
      let value = await promise;
      if (isScript === 1) value = await value.value;
      if (typeof value === 'function') value = await value(data);
      hostEnded('value', encode(value) ?? '');
    } catch (error) {
      hostEnded('thrown', describe(error));
    }
  },
};
})`;
