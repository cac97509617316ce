import { styleText } from 'node:util';

/** A stream as process.stdout and process.stderr are; tests hand in their own. */
export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The ways in which a word can stand out. */
export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

/** Where output goes that must not disturb moving progress bars. */
export type LineSink = (text: string) => void;

/**
 * The two streams of a command: results on stdout, everything said along the way on stderr. A reader that goes away
 * (`| head`) is no error: what is written afterwards is dropped.
 */
export class Terminal {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  #closed = new Set<OutputStream>();
  #sink: LineSink | undefined;

  constructor(stdout: OutputStream, stderr: OutputStream) {
    this.stdout = stdout;
    this.stderr = stderr;
    for (const stream of new Set([stdout, stderr])) {
      stream.on('error', () => this.#closed.add(stream));
    }
  }

  /** True when a person watches stderr, where bars and messages go. */
  get interactive(): boolean {
    return this.stderr.isTTY === true;
  }

  /** Columns of the screen that results are shown on; a fair width when it is none. */
  get width(): number {
    // Some terminals know their size not, and say 0.
    return this.stdout.columns || this.stderr.columns || 120;
  }

  /** Writes lines of the result to stdout. */
  print(text: string): void {
    this.#write(this.stdout, `${text}\n`);
  }

  /** Writes one JSON document to stdout. */
  printJson(value: unknown): void {
    this.print(JSON.stringify(value, null, this.stdout.isTTY === true ? 2 : undefined));
  }

  /** Writes a line to stderr, above the progress bars when there are some. */
  say(text: string): void {
    this.write(`${text}\n`);
  }

  /** As {@link say}, for text that brings its line breaks: what a logger writes to. */
  write(text: string): void {
    if (this.#sink === undefined) this.#write(this.stderr, text);
    else this.#sink(text);
  }

  /** While something moves on stderr, lines go through it. Returns a function that ends this. */
  redirect(sink: LineSink): () => void {
    this.#sink = sink;
    return () => {
      if (this.#sink === sink) this.#sink = undefined;
    };
  }

  /** `text` styled for stdout; plain where that is no terminal, or NO_COLOR is set. */
  style(style: Style, text: string): string {
    return styleFor(this.stdout, style, text);
  }

  /** `text` styled for stderr. */
  styleAside(style: Style, text: string): string {
    return styleFor(this.stderr, style, text);
  }

  #write(stream: OutputStream, text: string): void {
    if (!this.#closed.has(stream)) stream.write(text);
  }
}

function styleFor(stream: OutputStream, style: Style, text: string): string {
  if (stream.isTTY !== true) return text;
  return styleText(style, text, { stream, validateStream: true });
}
