import type { ComponentChildren } from 'preact';

interface BadgeProps {
  readonly children: ComponentChildren;
  readonly kind?: 'plain' | 'accent' | 'good' | 'warn' | 'bad';
  readonly class?: string;
}

/** A word or a number about the thing beside it. */
export function Badge({ children, kind = 'plain', class: extra = '' }: BadgeProps) {
  return <span class={`badge ${kind} ${extra}`}>{children}</span>;
}
