import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type Preset, fixtureCommand } from '../../support/fixture.ts';
import { testRun } from '../../support/test-run.ts';

export type Mood = 'fine' | 'slow' | 'garbage' | 'flood-stdout' | 'flood-stderr' | 'mute' | 'cut';

/** A server of the soak. It reads its mood (how it misbehaves) from one file and logs what it does to another. */
export class MoodyServer {
  readonly name: string;
  readonly log: string;
  readonly #moodFile: string;
  readonly #args: readonly string[];
  readonly #preset: Preset;
  #mood: Mood = 'fine';

  constructor(name: string, args: readonly string[] = [], preset: Preset = 'moody') {
    const folder = join(testRun().folder, 'servers');
    mkdirSync(folder, { recursive: true });
    this.name = name;
    this.log = join(folder, `${name}.jsonl`);
    this.#moodFile = join(folder, `${name}.mood`);
    this.#args = args;
    this.#preset = preset;
    this.mood('fine');
  }

  get isFine(): boolean {
    return this.#mood === 'fine';
  }

  mood(mood: Mood): void {
    this.#mood = mood;
    // Replace the file atomically, so that the server never reads half a word.
    writeFileSync(`${this.#moodFile}.new`, mood);
    renameSync(`${this.#moodFile}.new`, this.#moodFile);
  }

  /** Returns how often the server has acted in a mood since its log was last rotated. */
  acted(mood: Mood): number {
    if (!existsSync(this.log)) return 0;
    const acts = readFileSync(this.log, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"event":"mood"'));
    return acts.filter((line) => line.includes(`"mood":"${mood}"`)).length;
  }

  command(): readonly [string, ...string[]] {
    return fixtureCommand(this.#preset, [...this.#args, '--mood', this.#moodFile, '--name', this.name]);
  }

  /** Returns an entry for `mcpServers`; another `generation` makes it a different entry. */
  entry(more: Readonly<Record<string, unknown>> = {}, generation = 0): Readonly<Record<string, unknown>> {
    const [command, ...args] = this.command();
    const env = { FIXTURE_LOG: this.log, GENERATION: String(generation) };
    return { command, args, env, ...more };
  }
}
