import { render } from 'preact';
import type { ComponentChild } from 'preact';

/** A node of a document without layout: enough for Preact to render components in a test without a browser. */
export class FakeNode {
  readonly nodeType: number;
  readonly localName: string;
  readonly namespaceURI = 'http://www.w3.org/1999/xhtml';
  readonly attributes = new Map<string, unknown>();
  readonly childNodes: FakeNode[] = [];
  readonly style = {};
  readonly #listeners = new Map<string, (event: object) => void>();
  parentNode: FakeNode | null = null;
  data = '';

  constructor(nodeType: number, localName: string) {
    this.nodeType = nodeType;
    this.localName = localName;
  }

  get firstChild(): FakeNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): FakeNode | null {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  get textContent(): string {
    return this.data + this.childNodes.map(({ textContent }) => textContent).join('');
  }

  insertBefore(node: FakeNode, before: FakeNode | null): FakeNode {
    node.remove();
    const at = before === null ? -1 : this.childNodes.indexOf(before);
    this.childNodes.splice(at < 0 ? this.childNodes.length : at, 0, node);
    node.parentNode = this;
    return node;
  }

  appendChild(node: FakeNode): FakeNode {
    return this.insertBefore(node, null);
  }

  removeChild(node: FakeNode): void {
    this.childNodes.splice(this.childNodes.indexOf(node), 1);
    node.parentNode = null;
  }

  remove(): void {
    this.parentNode?.removeChild(this);
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, value);
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  addEventListener(name: string, listener: (event: object) => void): void {
    this.#listeners.set(name.toLowerCase(), listener);
  }

  removeEventListener(name: string): void {
    this.#listeners.delete(name.toLowerCase());
  }

  // Dialogs and inputs have these methods; without a browser, they do nothing.
  showModal(): void {}
  close(): void {}
  setCustomValidity(): void {}

  click(): void {
    this.#listeners.get('click')?.call(this, { type: 'click' });
  }

  /** Returns this node and everything in it, in the order of the page. */
  all(): readonly FakeNode[] {
    return [this, ...this.childNodes.flatMap((child) => child.all())];
  }

  /** Returns the first element of this name whose text matches. */
  find(localName: string, text: RegExp = /(?:)/): FakeNode | undefined {
    return this.all().find((node) => node.localName === localName && text.test(node.textContent));
  }
}

/** Renders a component; `document` exists until the page is disposed. */
export function renderWithoutBrowser(component: ComponentChild): Disposable & { readonly page: FakeNode } {
  const global = globalThis as { document?: unknown };
  const previous = global.document;
  global.document = {
    createElement: (name: string) => new FakeNode(1, name),
    createElementNS: (_namespace: string, name: string) => new FakeNode(1, name),
    createTextNode: (data: string) => Object.assign(new FakeNode(3, '#text'), { data }),
  };
  const page = new FakeNode(1, 'body');
  const show = (content: ComponentChild): void => render(content, page as never); // Preact only uses what a fake node has.
  show(component);
  return {
    page,
    [Symbol.dispose]() {
      show(null);
      global.document = previous;
    },
  };
}
