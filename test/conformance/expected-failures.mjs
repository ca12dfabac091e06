import { readFileSync } from 'node:fs';

/**
 * Reads `expected-failures.yml`: for each arrangement, the scenarios that fail in it, each with the reason. Supports only the two
 * levels of keys that the file has, so no YAML parser is needed.
 */
export function readExpectedFailures(file) {
  const expected = new Map();
  let current;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const arrangement = /^(\S.*):$/.exec(line)?.[1];
    const [, scenario, reason] = /^ {2}([\w/-]+): (\S.*)$/.exec(line) ?? [];
    if (arrangement !== undefined) expected.set(arrangement, (current = new Map()));
    else if (scenario !== undefined && current !== undefined) current.set(scenario, reason);
    else
      throw new Error(
        `expected-failures.yml: expected an arrangement or a scenario with its reason, got: ${line}`,
      );
  }
  return expected;
}
