import type { Clock } from '../base/clock.ts';
import type { Transport } from '../base/transport.ts';
import type { HistoryKind, Store } from '../mirror/port.ts';
import type { SheetStoreOptions } from './google-sheets/store.ts';

/** The other things that a target is opened with. */
export interface OpenTargetOptions {
  /** The real one when absent. */
  readonly clock?: Clock | undefined;
  /** The history that a SQL target keeps; statuses when absent. */
  readonly history?: HistoryKind | undefined;
  /** Access to Google's services; application default credentials when absent. */
  readonly google?: Omit<SheetStoreOptions, 'clock' | 'name'> | undefined;
  /** Called with the bytes that a target that bills has just billed. */
  readonly onBilled?: ((bytes: number) => void) | undefined;
}

/** The address of a target. The password is only in `open`, so that no listing or log of settings shows it (L15). */
export interface Address {
  /** For people: no password. */
  readonly shown: string;
  /** Equal for two addresses of one place, for any user. */
  readonly place: string;
  /** How safely it is reached. */
  readonly transport: Transport;
  /** The file that it is, where it is one. */
  readonly file?: string;
  /** Opens it under the name from the settings. Loads the driver of its kind and no other; connects at first use. */
  open(name: string, options?: OpenTargetOptions): Promise<Store>;
}
