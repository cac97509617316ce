import { MirrorError } from '../base/errors.ts';

/** A target URL that can't be used (SETTINGS). Nothing in it quotes the URL, which may hold a password (L15). */
export class TargetUrlError extends MirrorError {
  /** The mistake in it and its correction: follows the name of the setting, no full stop. */
  readonly problem: string;

  constructor(problem: string, example?: string) {
    const also = example === undefined ? '' : ` Example: ${example}.`;
    super('SETTINGS', `The target URL ${problem}.${also}`);
    this.problem = problem;
  }
}
