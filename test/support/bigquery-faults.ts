import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const MODULE = resolve(import.meta.dirname, '../../packages/bigquery-emulator/src/index.ts');

/** What tests set and look at in a running stand-in for BigQuery. */
export interface FaultyBigQuery {
  /** With a trailing slash. */
  readonly url: string;
  readonly statements: { totals(): { readonly statements: number; readonly bytesBilled: number } };
  readonly requests: { counts(): Readonly<Record<string, number>> };
  readonly faults: { add(rule: object): () => void; clear(): void };
  readonly jobs: {
    conflictOn(table: string, times?: number): void;
    runLong(polls: number): void;
    refuseDml(): void;
    clear(): void;
  };
  close(): Promise<void>;
}

/** Answers as Google words them, by name. */
type Answers = Readonly<
  Record<
    | 'backendError'
    | 'internalError'
    | 'rateLimitExceeded'
    | 'jobRateLimitExceeded'
    | 'apiNotEnabled'
    | 'noCredentials'
    | 'notFoundYet',
    object
  >
>;

interface StandInModule {
  readonly GOOGLE_FAULTS: Answers;
  startBigQueryEmulator(options: { readonly location: string }): Promise<FaultyBigQuery>;
}

/**
 * The stand-in's module. Its own types need its dependencies, which `npm ci` at the root does not install, so what is used of
 * it is written down here.
 */
const loaded = async (): Promise<StandInModule> =>
  (await import(pathToFileURL(MODULE).href)) as StandInModule;

/** Starts a stand-in whose datasets are in the EU. */
export const startFaultyBigQuery = async (): Promise<FaultyBigQuery> =>
  (await loaded()).startBigQueryEmulator({ location: 'EU' });

/** A refusal in Google's words, to be spread into a rule. */
export const googleFault = async (name: keyof Answers): Promise<object> =>
  (await loaded()).GOOGLE_FAULTS[name];
