import { randomUUID } from 'node:crypto';
import { styleText } from 'node:util';
import { printable, printableJson, printableLines } from '../base/printable.ts';

/** A stream like process.stdout and process.stderr; tests pass in their own. */
export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

/** How a line for people begins. */
const SIGNS = {
  ok: ['green', '✓'],
  error: ['red', '✗'],
  warning: ['yellow', '!'],
  note: ['dim', '·'],
} as const;
export type Sign = keyof typeof SIGNS;

const ESCAPE = '\u001B';

/**
 * The two streams of a command: results go to stdout, messages and progress to stderr. A reader that goes away
 * (`| head`) is not an error: later output is dropped.
 *
 * Nothing else writes to them, and every text is made printable here, so that no caller can forget it: names come
 * from the source, and may hold what controls a terminal. Styles made by {@link style} are all that passes.
 */
export class Terminal {
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  /** Follows ESC in our own styles: no text from elsewhere can hold it. */
  readonly #own = randomUUID();
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

  /** Writes lines of the result to stdout. A line break within one becomes a space. */
  print(...lines: readonly string[]): void {
    for (const line of lines) this.#write(this.#stdout, `${this.#shown(line, printable)}\n`);
  }

  /** Writes what was found as one line of the result, `✗ contact → default: …`, and below it what to do. */
  tell(
    sign: Sign,
    text: string,
    remedy: string | null | undefined = null,
    command: string | null = null,
  ): void {
    const [style, mark] = SIGNS[sign];
    this.print(`${this.style(style, mark)} ${text}`);
    if (remedy !== null) this.print(`    → ${remedy}`);
    if (command !== null) this.print(`      ${command}`);
  }

  /** The same as one line on stderr. */
  sayWith(sign: Sign, text: string): void {
    const [style, mark] = SIGNS[sign];
    this.say(`${this.styleStderr(style, mark)} ${text}`);
  }

  /** Writes text of our own that has line breaks, such as help, to stdout. */
  printText(text: string): void {
    this.#write(this.#stdout, `${this.#shown(text, printableLines)}\n`);
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
    for (const line of lines) this.#write(this.#stderr, `${this.#shown(line, printable)}\n`);
  }

  /** As {@link say}, for text of our own that has its line breaks, such as help or a line of a logger. */
  write(text: string): void {
    this.#write(this.#stderr, this.#shown(text, printableLines));
  }

  /** Writes to stderr what a library styled, which was given printable text only. */
  writeStyled(text: string): void {
    this.#write(this.#stderr, text);
  }

  /** `text` styled for stdout; plain when that is not a terminal, or NO_COLOR is set. */
  style(style: Style, text: string): string {
    return this.#styled(this.#stdout, style, text);
  }

  /** `text` styled for stderr. */
  styleStderr(style: Style, text: string): string {
    return this.#styled(this.#stderr, style, text);
  }

  #styled(stream: OutputStream, style: Style, text: string): string {
    if (stream.isTTY !== true) return text;
    const styled = styleText(style, printable(text), { stream, validateStream: true });
    return styled.replaceAll(ESCAPE, ESCAPE + this.#own);
  }

  #shown(text: string, show: (text: string) => string): string {
    return text
      .split(ESCAPE + this.#own)
      .map(show)
      .join(ESCAPE);
  }

  #write(stream: OutputStream, text: string): void {
    if (!this.#closed.has(stream)) stream.write(text);
  }
}
