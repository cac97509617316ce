import { styleText } from 'node:util';
import { printable, printableJson, printableLines } from '../base/printable.ts';
import type { Line, Sign } from './lines.ts';

/** A stream like process.stdout and process.stderr; tests pass in their own. */
export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const SIGNS = {
  ok: ['green', '✓'],
  error: ['red', '✗'],
  warning: ['yellow', '!'],
  note: ['dim', '·'],
} as const satisfies Record<Sign, readonly [string, string]>;

/**
 * The two streams of a command: results go to stdout, messages and progress to stderr. A reader that goes away
 * (`| head`) is not an error: later output is dropped.
 *
 * Nothing else writes to them, and every text is made printable here, so that no caller can forget it: names come
 * from the source, and may hold what controls a terminal. The only styles are those that are made here.
 */
export class Terminal {
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  #closed = new Set<OutputStream>();

  constructor(stdout: OutputStream, stderr: OutputStream) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    for (const stream of new Set([stdout, stderr])) {
      stream.on('error', () => this.#closed.add(stream));
    }
  }

  /** True when stderr, where messages go, is a terminal. */
  get interactive(): boolean {
    return this.#stderr.isTTY === true;
  }

  /** Width of the terminal in columns; 120 when there is none. */
  get width(): number {
    // Some terminals report a width of 0.
    return this.#stdout.columns || this.#stderr.columns || 120;
  }

  /** Whether stderr shows colors. */
  get hasColors(): boolean {
    return this.#styled(this.#stderr, 'red', 'x') !== 'x';
  }

  /** Writes lines of the result to stdout. A line break within one becomes a space. */
  print(...lines: readonly string[]): void {
    for (const line of lines) this.#write(this.#stdout, `${printable(line)}\n`);
  }

  /** Writes lines of the result, `✗ contact → default: …`, each with its details below it, and what to do. */
  tell(...lines: readonly Line[]): void {
    for (const { sign, text, details = [], remedy, command } of lines) {
      this.#tell(this.#stdout, sign, text);
      this.print(...details.map((detail) => `    ${detail}`));
      if (remedy) this.print(`    → ${remedy}`);
      if (command) this.print(`      ${command}`);
    }
  }

  /** Writes a line to stderr. */
  sayWith(sign: Sign, text: string): void {
    this.#tell(this.#stderr, sign, text);
  }

  /** Writes text of our own that has line breaks, such as help, to stdout. */
  printText(text: string): void {
    this.#write(this.#stdout, `${printableLines(text)}\n`);
  }

  /** Writes one JSON document to stdout. */
  printJson(value: unknown): void {
    const json = JSON.stringify(value, null, this.#stdout.isTTY === true ? 2 : undefined);
    this.#write(this.#stdout, `${printableJson(json)}\n`);
  }

  /**
   * Writes a piece of a result that is data, such as CSV, to stdout unchanged, and waits until it is taken; a terminal gets it
   * printable. False once the reader has gone away.
   */
  async pipe(text: string): Promise<boolean> {
    const stream = this.#stdout;
    if (this.#closed.has(stream)) return false;
    const taken = Promise.withResolvers<void>();
    stream.write(stream.isTTY === true ? printableLines(text) : text, (error) => {
      if (error) this.#closed.add(stream);
      taken.resolve();
    });
    await taken.promise;
    return !this.#closed.has(stream);
  }

  /** Writes lines to stderr. A line break within one becomes a space. */
  say(...lines: readonly string[]): void {
    for (const line of lines) this.#write(this.#stderr, `${printable(line)}\n`);
  }

  /** As {@link say}, for text of our own that has its line breaks, such as help or a line of a logger. */
  write(text: string): void {
    this.#write(this.#stderr, printableLines(text));
  }

  /** Writes to stderr what a library styled, which was given printable text only. */
  writeStyled(text: string): void {
    this.#write(this.#stderr, text);
  }

  #tell(stream: OutputStream, sign: Sign, text: string): void {
    const [style, mark] = SIGNS[sign];
    this.#write(stream, `${this.#styled(stream, style, mark)} ${printable(text)}\n`);
  }

  /** Plain unless the stream is a terminal, and where NO_COLOR is set. */
  #styled(stream: OutputStream, style: Parameters<typeof styleText>[0], text: string): string {
    return stream.isTTY === true ? styleText(style, text, { stream, validateStream: true }) : text;
  }

  #write(stream: OutputStream, text: string): void {
    if (!this.#closed.has(stream)) stream.write(text);
  }
}
