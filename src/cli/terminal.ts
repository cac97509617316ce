import { styleText } from 'node:util';
import { printable, printableJson, printableLines } from '../base/printable.ts';

/** A stream like process.stdout and process.stderr; tests pass their own. */
export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The signs at the beginning of a line. */
const SIGNS = {
  ok: ['green', '✓'],
  error: ['red', '✗'],
  warning: ['yellow', '!'],
  note: ['dim', '·'],
} as const;

/** A line of a command about a run, a copy, a problem, or an action: `✗ contact → default: …`. */
export interface Line {
  readonly sign: keyof typeof SIGNS;
  readonly text: string;
  /** Lines below it. */
  readonly details?: readonly string[];
  /** What to do. */
  readonly remedy?: string | null | undefined;
  /** A command line that does it. */
  readonly command?: string | null | undefined;
}

/**
 * The two streams of a command: results go to stdout, messages and progress to stderr. A reader that goes away (`| head`) is not an
 * error: later output is dropped.
 *
 * Nothing else writes to them. Every text is made printable here, so that no caller can forget it: names come from the source, and
 * may contain characters that control a terminal. The only styles are those made here.
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

  /** Whether stderr, where messages go, is a terminal. */
  get interactive(): boolean {
    return this.#stderr.isTTY === true;
  }

  /** Width of the terminal in columns; 120 if there is none. */
  get width(): number {
    // Some terminals report a width of 0.
    return this.#stdout.columns || this.#stderr.columns || 120;
  }

  /** Writes lines of the result to stdout. A line break within a text becomes a space. */
  print(...lines: readonly (string | Line)[]): void {
    for (const line of lines) this.#line(this.#stdout, line);
  }

  /** Writes lines to stderr. A line break within a text becomes a space. */
  say(...lines: readonly (string | Line)[]): void {
    for (const line of lines) this.#line(this.#stderr, line);
  }

  /** Writes one JSON document to stdout. */
  printJson(value: unknown): void {
    const json = JSON.stringify(value, null, this.#stdout.isTTY === true ? 2 : undefined);
    this.#write(this.#stdout, `${printableJson(json)}\n`);
  }

  /**
   * Writes a piece of a result that is data, such as CSV, to stdout unchanged, and waits until it is taken. For a terminal, makes
   * it printable. False once the reader has gone away.
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

  #line(stream: OutputStream, line: string | Line): void {
    if (typeof line === 'string') {
      this.#write(stream, `${printable(line)}\n`);
      return;
    }
    const { sign, text, details = [], remedy, command } = line;
    const [style, mark] = SIGNS[sign];
    this.#write(stream, `${this.#styled(stream, style, mark)} ${printable(text)}\n`);
    for (const detail of details) this.#line(stream, `    ${detail}`);
    if (remedy) this.#line(stream, `    → ${remedy}`);
    if (command) this.#line(stream, `      ${command}`);
  }

  /** Plain unless the stream is a terminal, and if NO_COLOR is set. */
  #styled(stream: OutputStream, style: Parameters<typeof styleText>[0], text: string): string {
    return stream.isTTY === true ? styleText(style, text, { stream, validateStream: true }) : text;
  }

  #write(stream: OutputStream, text: string): void {
    if (!this.#closed.has(stream)) stream.write(text);
  }
}
