/** Colours, or nothing where there are none to be. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

export function paint(isColoured: boolean): Paint {
  const by = (on: number, off: number) => (text: string) =>
    isColoured && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: by(1, 22),
    dim: by(2, 22),
    red: by(31, 39),
    green: by(32, 39),
    yellow: by(33, 39),
    cyan: by(36, 39),
  };
}
