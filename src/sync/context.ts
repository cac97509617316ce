import type { Clock } from '../base/clock.ts';
import type { Events } from '../base/events.ts';
import type { Logger } from '../base/logger.ts';
import type { FormsClient } from '../forms/client.ts';
import type { ComparisonSizes } from './comparison-sizes.ts';
import type { SyncEvents } from './events.ts';
import type { LabelCache } from './label-cache.ts';
import type { OwnLists } from './own-lists.ts';
import type { WindowSizes } from './window-sizes.ts';

/** What all passes of a process share. */
export interface SyncContext {
  readonly client: FormsClient;
  readonly labels: LabelCache;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Events<SyncEvents>;
  /** The brake of L8: more absent rows than this fraction of the live ones (and than 20) are not marked deleted. */
  readonly maxDeleteFraction: number;
  /** How large the windows of a large form are; left out: as it is good for an API of pages of 100. */
  readonly windowSizes?: WindowSizes;
  /** From which sizes on counts are narrowed; left out: as it is good for pages of 100. */
  readonly comparisonSizes?: ComparisonSizes;
  /** Left out: each form is known to have a list of its own. */
  readonly ownLists?: OwnLists;
  /** Pages fetched ahead while earlier ones are written, and submissions that are marked at the same time. */
  readonly readAhead: number;
}
