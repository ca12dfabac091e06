import type { ComponentChildren } from 'preact';

import { visible } from '../../lib/visible.ts';

interface FieldProps {
  readonly label: string;
  /** Of the input that the label is for. */
  readonly id?: string;
  readonly isRequired?: boolean;
  readonly hint?: string | undefined;
  /** What is wrong with what was typed. */
  readonly problem?: string | undefined;
  /** Whether it holds several inputs with labels of their own. */
  readonly isGroup?: boolean;
  readonly children: ComponentChildren;
}

/** A label, an input, and what one should know about it. The input is described by `ID-hint`. */
export function Field({
  label,
  id,
  isRequired = false,
  hint,
  problem,
  isGroup = false,
  children,
}: FieldProps) {
  const name = (
    <>
      {visible(label)}
      {isRequired && <span class="required"> required</span>}
    </>
  );
  const below = (
    <>
      {hint !== undefined && hint !== '' && (
        <p class="hint" id={id && `${id}-hint`}>
          {visible(hint)}
        </p>
      )}
      {problem !== undefined && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
  if (isGroup) {
    return (
      <fieldset class="field group">
        <legend>{name}</legend>
        {below}
        {children}
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={id}>{name}</label>
      {children}
      {below}
    </div>
  );
}
