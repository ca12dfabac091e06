/** Colours text. Without colours, every function returns its text unchanged. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

export function createPaint(isColoured: boolean): Paint {
  const style = (on: number, off: number) => (text: string) =>
    isColoured && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    cyan: style(36, 39),
  };
}
