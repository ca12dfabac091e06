import { Fragment, options, type VNode } from 'preact';

import { escapeInvisible } from './escape-invisible.ts';

/** The attributes that users see or hear. */
const READ_ATTRIBUTES = ['title', 'aria-label', 'placeholder', 'alt'];

/**
 * Escapes invisible characters in every text that the dashboard renders, so that no page can forget it: names, descriptions and messages
 * come from servers, clients and files. Values of inputs stay as they are.
 */
export function escapeRenderedText(): void {
  const previous = options.vnode?.bind(options);
  options.vnode = (vnode) => {
    // Properties of components are not escaped here, because they become texts of elements later.
    if (typeof vnode.type === 'string' || vnode.type === Fragment) escapeElement(vnode);
    previous?.(vnode);
  };
}

function escapeElement({ props }: VNode): void {
  const attributes = props as Record<string, unknown>; // Elements have no other kind of properties.
  for (const name of READ_ATTRIBUTES) {
    const value = attributes[name];
    if (typeof value === 'string') attributes[name] = escapeInvisible(value);
  }
  if (attributes['children'] !== undefined) attributes['children'] = escapeChildren(attributes['children']);
}

function escapeChildren(children: unknown): unknown {
  if (typeof children === 'string') return escapeInvisible(children);
  return Array.isArray(children) ? children.map(escapeChildren) : children;
}
