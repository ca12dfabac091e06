import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type Preset, fixtureCommand } from '../../support/fixture.ts';
import { testRun } from '../../support/test-run.ts';

export type Misbehaviour = 'fine' | 'slow' | 'garbage' | 'flood-stdout' | 'flood-stderr' | 'mute' | 'cut';

/** A server of the soak. It reads from one file how it must misbehave, and logs what it does to another. */
export class MisbehavingServer {
  readonly name: string;
  readonly log: string;
  readonly #misbehaviourFile: string;
  readonly #args: readonly string[];
  readonly #preset: Preset;
  #misbehaviour: Misbehaviour = 'fine';

  constructor(name: string, args: readonly string[] = [], preset: Preset = 'misbehaves-on-demand') {
    const folder = join(testRun().folder, 'servers');
    mkdirSync(folder, { recursive: true });
    this.name = name;
    this.log = join(folder, `${name}.jsonl`);
    this.#misbehaviourFile = join(folder, `${name}.misbehaviour`);
    this.#args = args;
    this.#preset = preset;
    this.misbehave('fine');
  }

  get isFine(): boolean {
    return this.#misbehaviour === 'fine';
  }

  misbehave(misbehaviour: Misbehaviour): void {
    this.#misbehaviour = misbehaviour;
    // Replace the file atomically, so that the server never reads half a word.
    writeFileSync(`${this.#misbehaviourFile}.new`, misbehaviour);
    renameSync(`${this.#misbehaviourFile}.new`, this.#misbehaviourFile);
  }

  /** Returns how often the server has misbehaved in this way since its log was last rotated. */
  countMisbehaviour(misbehaviour: Misbehaviour): number {
    if (!existsSync(this.log)) return 0;
    const acts = readFileSync(this.log, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"event":"misbehaviour"'));
    return acts.filter((line) => line.includes(`"misbehaviour":"${misbehaviour}"`)).length;
  }

  command(): readonly [string, ...string[]] {
    return fixtureCommand(this.#preset, [
      ...this.#args,
      '--misbehaviour',
      this.#misbehaviourFile,
      '--name',
      this.name,
    ]);
  }

  /** Returns an entry for `mcpServers`; another `generation` makes it a different entry. */
  entry(more: Readonly<Record<string, unknown>> = {}, generation = 0): Readonly<Record<string, unknown>> {
    const [command, ...args] = this.command();
    const env = { FIXTURE_LOG: this.log, GENERATION: String(generation) };
    return { command, args, env, ...more };
  }
}
