import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface SectionProps {
  readonly title: string;
  /** A short text beside the title. */
  readonly aside?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** Whether the content has a background and a border. */
  readonly isFramed?: boolean;
  readonly children: ComponentChildren;
}

export function Section({ title, aside, actions, isFramed = false, children }: SectionProps) {
  const heading = useId();
  return (
    <section class="section" aria-labelledby={heading}>
      <div class="section-head">
        <h2 id={heading}>{title}</h2>
        {aside !== undefined && <span class="faint small">{aside}</span>}
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {isFramed ? <div class="frame">{children}</div> : children}
    </section>
  );
}
