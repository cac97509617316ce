import { type Fault, Faults } from '../../../test/support/faults.ts';

/** A fault of the requests that it describes. Its body is JSON as Google sends it; see {@link GOOGLE_FAULTS}. */
export interface FaultRule extends Fault {
  /** Which requests: Google's name of the method, such as `jobs.query`. */
  readonly method: string;
  /** Which requests: the text of the query matches. */
  readonly query?: RegExp;
}

/** The request that rules are matched against. */
interface FaultSubject {
  readonly method: string;
  readonly query: string | undefined;
}

/** Selects the fault for a request to BigQuery. */
export class FaultInjector extends Faults<FaultRule, FaultSubject> {
  constructor() {
    super(describes);
  }
}

function describes(rule: FaultRule, { method, query }: FaultSubject): boolean {
  if (rule.method !== method) return false;
  // search() ignores lastIndex, so that a pattern with the g flag works each time.
  return rule.query === undefined || (query ?? '').search(rule.query) >= 0;
}
