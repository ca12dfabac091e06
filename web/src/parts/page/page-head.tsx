import type { ComponentChildren } from 'preact';

interface PageHeadProps {
  readonly title: string;
  /** One line that says how things are. */
  readonly aside?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The head of a page; its children are the page's own actions. */
export function PageHead({ title, aside, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        {aside !== undefined && <p class="soft number">{aside}</p>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </div>
  );
}
