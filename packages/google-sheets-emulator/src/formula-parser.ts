import { tokenize, type Reference, type Token } from './formula-tokens.ts';

/** A formula as a tree. */
export type Node =
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'reference'; readonly reference: Reference }
  | { readonly kind: 'broken' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Node[] }
  | {
      readonly kind: 'binary';
      readonly operator: string;
      readonly left: Node;
      readonly right: Node;
    };

/** Thrown for a formula that cannot be read; a cell shows it as `#ERROR!`. */
export class FormulaSyntaxError extends Error {
  override readonly name = 'FormulaSyntaxError';
}

const BINDING: Readonly<Record<string, number>> = {
  '=': 1,
  '<>': 1,
  '<': 1,
  '>': 1,
  '<=': 1,
  '>=': 1,
  '&': 2,
  '+': 3,
  '-': 3,
  '*': 4,
  '/': 4,
};

/** Reads tokens by precedence climbing. */
class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens.filter((token) => token.kind !== 'space');
  }

  whole(): Node {
    const node = this.#expression(0);
    if (this.#at < this.#tokens.length) this.#fail();
    return node;
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #take(): Token {
    const token = this.#tokens[this.#at];
    if (token === undefined) return this.#fail();
    this.#at++;
    return token;
  }

  #fail(): never {
    throw new FormulaSyntaxError('Formula parse error.');
  }

  #isOperator(text: string): boolean {
    const token = this.#peek();
    return token?.kind === 'operator' && token.text === text;
  }

  #expression(least: number): Node {
    let left = this.#primary();
    for (;;) {
      const token = this.#peek();
      const binding = token?.kind === 'operator' ? BINDING[token.text] : undefined;
      if (token === undefined || binding === undefined || binding <= least) return left;
      this.#at++;
      left = { kind: 'binary', operator: token.text, left, right: this.#expression(binding) };
    }
  }

  #primary(): Node {
    const token = this.#take();
    switch (token.kind) {
      case 'number':
      case 'string':
        return { kind: 'literal', value: token.value };
      case 'reference':
        return { kind: 'reference', reference: token.reference };
      case 'error':
        return { kind: 'broken' };
      case 'word':
        return this.#word(token.text);
      case 'operator': {
        if (token.text !== '(') return this.#fail();
        const inner = this.#expression(0);
        if (!this.#isOperator(')')) return this.#fail();
        this.#at++;
        return inner;
      }
      case 'space':
      case 'unknown':
        return this.#fail();
    }
  }

  #word(name: string): Node {
    const upper = name.toUpperCase();
    if (!this.#isOperator('(')) {
      if (upper === 'TRUE' || upper === 'FALSE')
        return { kind: 'literal', value: upper === 'TRUE' };
      return { kind: 'name', name };
    }
    this.#at++;
    const args: Node[] = [];
    while (!this.#isOperator(')')) {
      args.push(this.#isSeparator() ? { kind: 'literal', value: '' } : this.#expression(0));
      if (this.#isSeparator()) this.#at++;
      else if (!this.#isOperator(')')) this.#fail();
    }
    this.#at++;
    return { kind: 'call', name: upper, args };
  }

  /** `;` separates arguments in every locale, `,` in American English. */
  #isSeparator(): boolean {
    return this.#isOperator(';') || this.#isOperator(',');
  }
}

/** The tree of a formula. Throws {@link FormulaSyntaxError}. */
export function parseFormula(formula: string): Node {
  return new Parser(tokenize(formula)).whole();
}
