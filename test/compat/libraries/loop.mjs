const LINES = 5000;

/** The calls with which a model uses Trunkline; `args` may be a function of the results so far. */
export const loopSteps = [
  { call: 'search_tools', args: { query: 'print numbered lines of text' } },
  { call: 'describe_tools', args: { names: ['notes__print_lines'] } },
  { call: 'call_read_tool', args: { name: 'notes__print_lines', arguments: { count: LINES } } },
  {
    call: 'read_result',
    args: (results) => ({
      id: /\br_[A-Za-z0-9_-]{16}/.exec(results[2])?.[0] ?? '',
      find: `This is line ${LINES - 1}.`,
    }),
  },
];

/** A part of the result of each step. */
export const loopResults = ['notes__print_lines', '"count"', 'r_', `This is line ${LINES - 1}.`];

/** Makes the calls and prints their results as a JSON array. `call` returns the text of a result. */
export async function printLoop(call) {
  const results = [];
  for (const { call: name, args } of loopSteps)
    results.push(await call(name, typeof args === 'function' ? args(results) : args));
  console.log(JSON.stringify(results));
}
