/** Records events with their times, to find the cause of a violation. */
export class Journal {
  readonly lines: string[] = [];
  readonly #begin = performance.now();

  note(text: string): void {
    this.lines.push(`${this.time()} ${text}`);
    // The last hour of a long run is enough.
    if (this.lines.length > 20_000) this.lines.splice(0, 10_000);
  }

  /** Returns the seconds since the start, and the time of day as it appears in logs. */
  time(): string {
    const seconds = ((performance.now() - this.#begin) / 1000).toFixed(1).padStart(7);
    return `${seconds} s  ${new Date().toISOString().slice(11, 23)}`;
  }
}
