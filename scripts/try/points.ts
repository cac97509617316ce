import { toMirrorError } from '../../src/base/errors.ts';
import { printable } from '../../src/base/printable.ts';

/** An assumption about a service that was not recorded, and how to check it. */
export interface Point {
  /** The assumption or question, as a sentence. */
  readonly says: string;
  /** Throws {@link Refuted} if it is false. The result is printed, too. */
  readonly look: () => Promise<string | undefined>;
}

/** The observation differs from the program's assumption. */
export class Refuted extends Error {}

/** The situation of the point did not occur, so that it shows nothing. */
export class NotSeen extends Error {}

/** Throws {@link Refuted} unless `isSo`. */
export function see(isSo: boolean, found: string): void {
  if (!isSo) throw new Refuted(found);
}

/** The result of a point. `open`: it could not be checked. */
export interface Finding {
  readonly says: string;
  readonly result: 'holds' | 'refuted' | 'open';
  readonly note: string | undefined;
}

const SIGNS = { holds: '✓', refuted: '✗', open: '?' } as const;

/**
 * Checks each point in order and prints the finding; after a failure it continues. An abort ends it after the current
 * point.
 */
export async function lookAt(
  points: readonly Point[],
  print: (line: string) => void,
  signal?: AbortSignal,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { says, look } of points) {
    if (signal?.aborted === true) break;
    const finding = await found(says, look);
    findings.push(finding);
    print(`${SIGNS[finding.result]} ${printable(says)}`);
    if (finding.note !== undefined) print(`    ${printable(finding.note)}`);
  }
  return findings;
}

async function found(says: string, look: Point['look']): Promise<Finding> {
  try {
    return { says, result: 'holds', note: await look() };
  } catch (error) {
    if (error instanceof Refuted) return { says, result: 'refuted', note: error.message };
    if (error instanceof NotSeen) return { says, result: 'open', note: error.message };
    return {
      says,
      result: 'open',
      note: `could not be looked at: ${toMirrorError(error).message}`,
    };
  }
}

/** The findings in one line, and the exit code: 0 if every point holds, 1 otherwise. */
export function summary(findings: readonly Finding[]): {
  readonly line: string;
  readonly code: 0 | 1;
} {
  const number = (result: Finding['result']): number =>
    findings.filter((finding) => finding.result === result).length;
  const [refuted, open] = [number('refuted'), number('open')];
  const line = `${number('holds')} of ${findings.length} points hold; ${refuted} do not, and ${open} could not be looked at.`;
  return { line, code: refuted + open === 0 ? 0 : 1 };
}
