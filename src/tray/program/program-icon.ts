import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { deferred } from '../../lib/deferred.ts';
import { GatewayError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import { drawIcon } from '../draw-icon.ts';
import { ico } from '../ico.ts';
import { png } from '../png.ts';
import type { TrayAction } from '../menu.ts';
import type { Look } from '../state.ts';
import type { OnChosen, Shown, TrayIcon } from '../tray-icon.ts';
import { flatItems, programMenu, shapeOf } from './program-menu.ts';
import type { ProgramItem } from './program-menu.ts';
import { trayProgram } from './tray-program.ts';

const READY_WITHIN_MS = 10_000;
const SIZE = 32;

interface ProgramIconOptions {
  readonly platform: NodeJS.Platform;
  readonly folder: string;
  readonly onChosen: OnChosen;
  /** The file from which the package is looked for; this one unless told. */
  readonly from?: string;
}

/**
 * An icon that another program draws, told on its standard input. That program can change items but neither add nor remove
 * any, and names what was clicked by its place, so a menu with other things in it is shown by a new one.
 */
export async function programIcon(options: ProgramIconOptions): Promise<TrayIcon> {
  const program = await trayProgram(options);
  const gone = deferred<void>();
  let running: Drawing | undefined;
  let isClosed = false;
  let last: Shown | undefined;
  // One at a time; of what is wanted meanwhile only the newest counts.
  let turn: Promise<void> | undefined;
  const draw = async (): Promise<void> => {
    for (let shown = last; shown !== undefined && !isClosed; shown = last) {
      last = undefined;
      if (running?.update(shown) === true) continue;
      const before = running;
      const next = new Drawing(program, options);
      running = next;
      await before?.end();
      await next.begin(shown);
      void next.ended.then(() => {
        if (running === next && !isClosed) gone.resolve();
      });
    }
  };
  return {
    gone: gone.promise,
    show(shown) {
      last = shown;
      turn ??= draw()
        .catch(() => gone.resolve())
        .finally(() => (turn = undefined));
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await running?.end();
    },
  };
}

/** One run of the program. */
class Drawing {
  readonly ended: Promise<void>;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ready = deferred<void>();
  readonly #options: ProgramIconOptions;
  #actions: readonly (TrayAction | undefined)[] = [];
  #items: readonly ProgramItem[] = [];
  #shape = '';
  #head = '';

  constructor(program: string, options: ProgramIconOptions) {
    this.#options = options;
    this.#child = spawn(program, [], { stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
    this.ended = new Promise((resolve) => {
      this.#child.once('close', () => resolve());
      this.#child.once('error', () => resolve());
    });
    // It ends when the desktop does; what we still tell it then is lost on nobody.
    this.#child.stdin.on('error', () => {});
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#heard(line));
  }

  async begin(shown: Shown): Promise<void> {
    const timer = setTimeout(() => this.#child.kill(), READY_WITHIN_MS);
    const isReady = await Promise.race([this.#ready.promise.then(() => true), this.ended.then(() => false)]);
    clearTimeout(timer);
    if (!isReady)
      throw new GatewayError('DESKTOP_MISSING', 'The program that draws the icon does not start.');
    const { items, actions } = programMenu(shown.menu);
    [this.#items, this.#actions, this.#shape] = [items, actions, shapeOf(shown.menu)];
    const head = this.#headOf(shown);
    this.#head = JSON.stringify(head);
    this.#tell({ ...head, items });
  }

  /** False when the menu has another shape. */
  update(shown: Shown): boolean {
    if (shapeOf(shown.menu) !== this.#shape) return false;
    const { items, actions } = programMenu(shown.menu);
    const before = flatItems(this.#items).map((item) => JSON.stringify(item));
    for (const [at, item] of flatItems(items).entries())
      if (JSON.stringify(item) !== before[at]) this.#tell({ type: 'update-item', item, seq_id: -1 });
    const head = this.#headOf(shown);
    if (JSON.stringify(head) !== this.#head) this.#tell({ type: 'update-menu', menu: { ...head, items } });
    this.#head = JSON.stringify(head);
    [this.#items, this.#actions] = [items, actions];
    return true;
  }

  async end(): Promise<void> {
    // A click that is still on its way was meant for a menu that is out of date.
    this.#actions = [];
    this.#tell({ type: 'exit' });
    this.#child.stdin.end();
    this.#child.kill();
    await this.ended;
  }

  #headOf({ look, title }: Shown): object {
    const icon = iconFor(look, this.#options.platform);
    // A title would be text beside the icon; what it says is in the tooltip and in the first line of the menu.
    return { icon, title: '', tooltip: title, isTemplateIcon: false };
  }

  #tell(message: object): void {
    if (this.#child.stdin.writable) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #heard(line: string): void {
    let heard: unknown;
    try {
      heard = JSON.parse(line);
    } catch {
      return; // It also prints what is no message.
    }
    if (!isJsonObject(heard)) return;
    if (heard['type'] === 'ready') this.#ready.resolve();
    const action = heard['type'] === 'clicked' ? this.#actions[Number(heard['__id']) - 1] : undefined;
    if (action !== undefined) this.#options.onChosen(action);
  }
}

function iconFor(look: Look, platform: NodeJS.Platform): string {
  const picture = drawIcon(look, SIZE);
  return (platform === 'win32' ? ico(picture) : png(picture)).toString('base64');
}
