// Prints progress while tests run, each failure as it happens, and a short summary. Everything else
// (errors in full, console output, the order and duration of files) goes to test-results/details.log.

import { mkdirSync, readFileSync, writeFileSync, appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';

import { testPrograms } from './test-programs.mjs';

const FOLDER = 'test-results';
const DETAILS = join(FOLDER, 'details.log');
const DURATIONS = join(FOLDER, 'durations.json');
/** Interval between progress lines if the output is not a terminal. */
const PLAIN_INTERVAL_MS = 15_000;
/** A failure takes two lines, and the summary has at most 40. */
const MAX_FAILURES_SHOWN = 15;
/** Expected duration of a file that has never run on this machine. */
const UNKNOWN_FILE_MS = 2000;

// The keys are literal.
const programs = Object.keys(testPrograms) as (keyof typeof testPrograms)[];

interface Failure {
  readonly place: string;
  readonly reason: string;
}

export default class TestReporter implements Reporter {
  readonly #out = process.stdout;
  readonly #files = { total: 0, done: 0 };
  /** Expected milliseconds, for the estimate of the remaining time. */
  readonly #work = { total: 0, done: 0 };
  readonly #durations = readDurations();
  readonly #tests = { passed: 0, failed: 0 };
  readonly #failures: Failure[] = [];
  readonly #skipped = new Map<string, number>();
  #missing: ReadonlySet<string> = new Set();
  #left = 0;
  #beganAt = Date.now();
  #printedAt = 0;

  onInit({ config }: Vitest): void {
    this.#missing = new Set(config.tags.filter(({ skip }) => skip === true).map(({ name }) => name));
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(DETAILS, '');
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#beganAt = Date.now();
    this.#files.total = specifications.length;
    for (const { moduleId, project } of specifications)
      this.#work.total += this.#expectedMs(`${project.name} ${relative(process.cwd(), moduleId)}`);
    this.#print(true);
  }

  onTestModuleStart(module: TestModule): void {
    this.#detail(`start ${nameOf(module)}`);
  }

  onUserConsoleLog({ content }: { readonly content: string }): void {
    this.#detail(content.trimEnd());
  }

  onTestModuleEnd(module: TestModule): void {
    const name = nameOf(module);
    const { duration } = module.diagnostic();
    this.#files.done += 1;
    this.#work.done += this.#expectedMs(name);
    this.#durations[name] = Math.round(duration);
    this.#detail(`end ${name} ${Math.round(duration)} ms`);
    for (const test of module.children.allTests()) this.#count(name, test);
    for (const suite of [module, ...module.children.allSuites()]) {
      const errors = suite.errors();
      if (errors.length > 0) this.#fail(name, suite.type === 'module' ? '(file)' : suite.fullName, errors);
    }
    this.#print(false);
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    for (const error of unhandled) this.#fail('(no file)', 'unhandled error outside of tests', [error]);
    writeFileSync(DURATIONS, JSON.stringify(this.#durations));
    this.#eraseProgress();
    for (const line of this.#summary()) this.#out.write(`${line}\n`);
  }

  #count(file: string, test: TestCase): void {
    const { state, errors } = test.result();
    if (state === 'passed') this.#tests.passed += 1;
    else if (state === 'failed') {
      this.#tests.failed += 1;
      this.#fail(file, test.fullName, errors);
    } else this.#countSkipped(test);
  }

  /** A test is skipped because a program is missing, because its tag leaves it to test:all, or because of the platform. */
  #countSkipped(test: TestCase): void {
    const { tags } = test;
    const program = programs.find((name) => tags.includes(name) && this.#missing.has(name));
    if (program === undefined && (tags.includes('every-cell') || tags.includes('slow'))) this.#left += 1;
    else {
      const why =
        program === undefined ? 'not supported on this platform' : `no ${testPrograms[program].title}`;
      this.#skipped.set(why, (this.#skipped.get(why) ?? 0) + 1);
    }
  }

  #fail(file: string, title: string, errors: readonly SerializedError[]): void {
    const texts = errors.map((error) => stripVTControlCharacters(`${error.message}\n${framesOf(error)}`));
    const differences = errors.flatMap(({ diff }) =>
      typeof diff === 'string' ? [stripVTControlCharacters(diff)] : [],
    );
    this.#detail(['FAILED', file, title, ...texts, ...differences].join('\n'));
    const place = `${file.split(' ').at(-1)} > ${title}`;
    this.#failures.push({ place, reason: texts[0]?.split('\n')[0] ?? '' });
    this.#eraseProgress();
    this.#out.write(`failed: ${place}\n`);
  }

  #expectedMs(name: string): number {
    return this.#durations[name] ?? UNKNOWN_FILE_MS;
  }

  #print(isFirst: boolean): void {
    const now = Date.now();
    const isTerminal = this.#out.isTTY;
    if (!isFirst && !isTerminal && now - this.#printedAt < PLAIN_INTERVAL_MS) return;
    this.#printedAt = now;
    const line = this.#progress(now);
    this.#out.write(isTerminal ? `\r\u001B[K${line}` : `${line}\n`);
  }

  #progress(now: number): string {
    const { done, total } = this.#files;
    const { failed } = this.#tests;
    const share = this.#work.done / this.#work.total;
    const rest = share > 0.03 ? `, ${minutes(((now - this.#beganAt) * (1 - share)) / share)} left` : '';
    return `${done} of ${total} files, ${failed === 0 ? 'no' : failed} failed tests${rest}`;
  }

  #eraseProgress(): void {
    if (this.#out.isTTY) this.#out.write('\r\u001B[K');
  }

  /** Returns at most 40 lines. */
  #summary(): readonly string[] {
    const { passed } = this.#tests;
    const skipped = [...this.#skipped.values()].reduce((sum, count) => sum + count, 0);
    const shown = this.#failures.slice(0, MAX_FAILURES_SHOWN);
    const lines = ['', `${this.#files.done} files in ${minutes(Date.now() - this.#beganAt)}`];
    for (const { place, reason } of shown) lines.push(`FAILED ${place}`, `  ${reason}`);
    if (shown.length < this.#failures.length)
      lines.push(`… and ${this.#failures.length - shown.length} more.`);
    if (skipped > 0) {
      const reasons = [...this.#skipped].map(([why, count]) => `${why} (${count})`).join(', ');
      const remedy = this.#missing.size > 0 ? '; npm run test:setup installs the programs on Debian' : '';
      lines.push(`skipped ${skipped} tests: ${reasons}${remedy}`);
    }
    if (this.#left > 0) lines.push(`not run: ${this.#left} tests that only npm run test:all runs`);
    lines.push(`details: ${DETAILS}`);
    lines.push(`Tests: ${passed} passed, ${this.#failures.length} failed, ${skipped} skipped`);
    return lines;
  }

  #detail(text: string): void {
    appendFileSync(DETAILS, `${((Date.now() - this.#beganAt) / 1000).toFixed(1)} ${text}\n`);
  }
}

function nameOf(module: TestModule): string {
  return `${module.project.name} ${module.relativeModuleId}`;
}

/** Returns the stack without the message, which the runner replaces for timeouts. */
function framesOf({ stack = '' }: SerializedError): string {
  return stack.slice(Math.max(0, stack.search(/^\s+at /m)));
}

function minutes(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function readDurations(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(DURATIONS, 'utf8')) as Record<string, number>; // As this reporter wrote it.
  } catch {
    return {}; // The first run here.
  }
}
