/** What happened when, for whoever looks for the cause of a violation. */
export class Journal {
  readonly lines: string[] = [];
  readonly #begin = performance.now();

  note(text: string): void {
    this.lines.push(`${this.time()} ${text}`);
    // Of a run of hours the last hour is enough.
    if (this.lines.length > 20_000) this.lines.splice(0, 10_000);
  }

  /** Seconds since the beginning, with the time of day, which logs have. */
  time(): string {
    const seconds = ((performance.now() - this.#begin) / 1000).toFixed(1).padStart(7);
    return `${seconds} s  ${new Date().toISOString().slice(11, 23)}`;
  }
}
