import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { type BrowserContext, chromium, type Page } from 'playwright-core';

import { chromiumPath } from '../../support/chromium.ts';
import { program } from '../../support/command.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { scaleDeadline } from '../../support/scale-deadline.ts';

/** A browser that is signed in to the dashboard of a gateway. */
export interface OpenDashboard extends AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens a path of the dashboard with a full page load. */
  goto(path: string): Promise<void>;
  /** Requests to other origins, errors and popups of the page; must stay empty. */
  readonly complaints: readonly string[];
}

interface DashboardOptions extends GatewayOptions {
  /** A running gateway; without it, a gateway is started, and stopped with the browser. */
  readonly gateway?: RunningGateway;
  readonly width?: number;
}

const axeScript = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Starts a gateway over HTTP and a browser, and signs the browser in with a link of `trunkline dashboard`. */
export async function openDashboard(options: DashboardOptions): Promise<OpenDashboard> {
  const gateway = options.gateway ?? (await startGateway({ ...options, listen: 'http' }));
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const { width = 1280 } = options;
  // Without reduced motion, accessibility checks would measure colours in the middle of a transition.
  const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(scaleDeadline(30_000, 'tests'));
  const page = await context.newPage();
  const { origin } = new URL(gateway.url);
  const complaints = complaintsOf(page, origin);
  await page.goto(await signInLink(gateway));
  return {
    gateway,
    page,
    context,
    complaints,
    async goto(path) {
      await page.goto(new URL(path, origin).href);
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      if (options.gateway === undefined) await gateway[Symbol.asyncDispose]();
    },
  };
}

/** Returns the sign-in link of `trunkline dashboard`. */
async function signInLink({ home, configFile }: RunningGateway): Promise<string> {
  const args = [program, 'dashboard', '--print', '--json', '--config', configFile];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, TRUNKLINE_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`\`trunkline dashboard\` failed: ${stderr}`);
  return (JSON.parse(stdout) as { url: string }).url;
}

/** Returns the serious and critical accessibility problems of the page in light and dark mode. */
export async function seriousProblems(page: Page): Promise<readonly string[]> {
  // Evaluated through the debugger, because the content security policy of the page blocks other scripts.
  await page.evaluate(readFileSync(axeScript, 'utf8'));
  const problems: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme="${colorScheme}"]`).waitFor();
    problems.push(...(await page.evaluate(axeProblems)).map((problem) => `${colorScheme}, ${problem}`));
  }
  return problems;
}

/** Collects what hostile texts have done to the pages of a browser. */
export interface PageWatch {
  /** What was found, each with the place where it was found; must stay empty. */
  readonly problems: readonly string[];
  /** Looks at the page as it is now. */
  check(where: string): Promise<void>;
}

/** One second on an idle machine; tests share theirs. */
const MAX_TASK_MS = 3000;

/** Watches all pages that are loaded from now on. */
export async function watchPage(page: Page): Promise<PageWatch> {
  const script = new URL('../../support/page-problems.mjs', import.meta.url);
  await page.addInitScript({ path: fileURLToPath(script) });
  const problems: string[] = [];
  return {
    problems,
    async check(where) {
      await page.waitForTimeout(700);
      const found = await page.evaluate<string[]>(`findPageProblems(${MAX_TASK_MS})`);
      problems.push(...found.map((problem) => `${where}: ${problem}`));
    },
  };
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

interface Axe {
  run(): Promise<{ readonly violations: readonly Violation[] }>;
}

/** Runs in the page. */
async function axeProblems(): Promise<string[]> {
  const { violations } = await (globalThis as unknown as { readonly axe: Axe }).axe.run();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => {
      const elements = nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`);
      return `${id}: ${elements.join('; ')}`;
    });
}

function complaintsOf(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) complaints.push(`requested ${request.url()}`);
  });
  page.on('pageerror', (error) => complaints.push(`threw ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`popped up ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // Failed requests are part of some tests.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(`logged ${message.text()}`);
  });
  return complaints;
}
