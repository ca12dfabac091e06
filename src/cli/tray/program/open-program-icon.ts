import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { deferred } from '../../../core/lib/deferred.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import { drawIcon } from '../draw-icon.ts';
import { encodeIco, encodePng } from '../encode-image.ts';
import type { TrayAction } from '../tray-menu.ts';
import type { IconState } from '../tray-state.ts';
import type { ActionListener, IconContent, TrayIcon } from '../tray-icon.ts';
import { flattenItems, serializeMenuKeys, toProgramMenu } from './program-menu.ts';
import type { ProgramMenuItem } from './program-menu.ts';
import { findTrayProgram } from './find-tray-program.ts';

const READY_TIMEOUT_MS = 10_000;
/** The width and height of the icon in pixels. */
const ICON_SIZE = 32;

interface ProgramIconOptions {
  readonly platform: NodeJS.Platform;
  /** The folder into which the program may be copied. */
  readonly folder: string;
  readonly onAction: ActionListener;
  /** The module from which the package is resolved. The default is this program; tests set another one. */
  readonly from?: string;
}

/**
 * Opens an icon that a helper program draws. The helper receives the content on standard input. It can change menu items but cannot
 * add or remove any, and it reports clicks by item number. Therefore a menu with other items needs a new process.
 */
export async function openProgramIcon(options: ProgramIconOptions): Promise<TrayIcon> {
  const program = await findTrayProgram(options);
  const closed = deferred<void>();
  let current: TrayProcess | undefined;
  let isDisposed = false;
  // The newest content that is not drawn yet. Content that arrives while another is being drawn replaces it, so only the newest is drawn.
  let nextContent: IconContent | undefined;
  let drawing: Promise<void> | undefined;
  const draw = async (): Promise<void> => {
    for (let content = nextContent; content !== undefined && !isDisposed; content = nextContent) {
      nextContent = undefined;
      if (current?.update(content) === true) continue;
      const previous = current;
      const next = new TrayProcess(program, options);
      current = next;
      await previous?.end();
      await next.begin(content);
      void next.ended.then(() => {
        if (current === next && !isDisposed) closed.resolve();
      });
    }
  };
  return {
    closed: closed.promise,
    show(content) {
      nextContent = content;
      drawing ??= draw()
        .catch(() => closed.resolve())
        .finally(() => (drawing = undefined));
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      await current?.end();
    },
  };
}

/** One process of the helper program. */
class TrayProcess {
  readonly ended: Promise<void>;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #ready = deferred<void>();
  readonly #options: ProgramIconOptions;
  /** The action of each item. The index is the item number minus 1. */
  #actions: readonly (TrayAction | undefined)[] = [];
  #items: readonly ProgramMenuItem[] = [];
  /** Identifies the items of the menu, see `serializeMenuKeys`. */
  #menuKeys = '';
  /** The icon and its texts as last sent. */
  #header = '';

  constructor(program: string, options: ProgramIconOptions) {
    this.#options = options;
    this.#child = spawn(program, [], { stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
    this.ended = new Promise((resolve) => {
      this.#child.once('close', () => resolve());
      this.#child.once('error', () => resolve());
    });
    // Writing fails when the program has exited with the desktop. `ended` reports that.
    this.#child.stdin.on('error', () => {});
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#onLine(line));
  }

  /** Waits until the program is ready and sends the first content. Rejects if the program does not start. */
  async begin(content: IconContent): Promise<void> {
    const timer = setTimeout(() => this.#child.kill(), READY_TIMEOUT_MS);
    const isReady = await Promise.race([this.#ready.promise.then(() => true), this.ended.then(() => false)]);
    clearTimeout(timer);
    if (!isReady) throw new GatewayError('DESKTOP_MISSING', 'The program that draws the icon did not start.');
    const { items, actions } = toProgramMenu(content.menu);
    this.#items = items;
    this.#actions = actions;
    this.#menuKeys = serializeMenuKeys(content.menu);
    const header = this.#createHeader(content);
    this.#header = JSON.stringify(header);
    this.#send({ ...header, items });
  }

  /** Sends the changed items and the changed icon. Returns false if the menu has other items, which needs a new process. */
  update(content: IconContent): boolean {
    if (serializeMenuKeys(content.menu) !== this.#menuKeys) return false;
    const { items, actions } = toProgramMenu(content.menu);
    const previousItems = flattenItems(this.#items).map((item) => JSON.stringify(item));
    for (const [index, item] of flattenItems(items).entries())
      if (JSON.stringify(item) !== previousItems[index])
        this.#send({ type: 'update-item', item, seq_id: -1 });
    const header = this.#createHeader(content);
    if (JSON.stringify(header) !== this.#header)
      this.#send({ type: 'update-menu', menu: { ...header, items } });
    this.#header = JSON.stringify(header);
    this.#items = items;
    this.#actions = actions;
    return true;
  }

  async end(): Promise<void> {
    // A click that still arrives was made in an outdated menu.
    this.#actions = [];
    this.#send({ type: 'exit' });
    this.#child.stdin.end();
    this.#child.kill();
    await this.ended;
  }

  #createHeader({ state, title }: IconContent): object {
    const icon = encodeIcon(state, this.#options.platform);
    // The title stays empty, because the program would show it beside the icon. The tooltip and the first menu item have this text.
    return { icon, title: '', tooltip: title, isTemplateIcon: false };
  }

  #send(message: object): void {
    if (this.#child.stdin.writable) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #onLine(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return; // The program also prints lines that are not messages.
    }
    if (!isJsonObject(message)) return;
    if (message['type'] === 'ready') this.#ready.resolve();
    const action = message['type'] === 'clicked' ? this.#actions[Number(message['__id']) - 1] : undefined;
    if (action !== undefined) this.#options.onAction(action);
  }
}

function encodeIcon(state: IconState, platform: NodeJS.Platform): string {
  const image = drawIcon(state, ICON_SIZE);
  return (platform === 'win32' ? encodeIco(image) : encodePng(image)).toString('base64');
}
