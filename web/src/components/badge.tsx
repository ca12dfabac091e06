import type { ComponentChildren } from 'preact';

interface BadgeProps {
  readonly children: ComponentChildren;
  readonly kind?: 'plain' | 'accent' | 'good' | 'warn' | 'bad';
  readonly class?: string;
}

/** A short label or number next to a name. */
export function Badge({ children, kind = 'plain', class: extra = '' }: BadgeProps) {
  return <span class={`badge ${kind} ${extra}`}>{children}</span>;
}
