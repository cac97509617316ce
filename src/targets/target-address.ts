import type { Clock } from '../base/clock.ts';
import type { Transport } from '../base/transport.ts';
import type { HistoryKind, Store } from '../mirror/port.ts';
import type { SheetStoreOptions } from './google-sheets/store.ts';

/** Options for opening a target. */
export interface OpenTargetOptions {
  /** Default: the real clock. */
  readonly clock?: Clock | undefined;
  /** The history that a SQL target keeps. Default: statuses. */
  readonly history?: HistoryKind | undefined;
  /** Access to Google's services. Default: application default credentials. */
  readonly google?: Omit<SheetStoreOptions, 'clock' | 'name'> | undefined;
  /** Called with the bytes that a target has just billed. */
  readonly onBilled?: ((bytes: number) => void) | undefined;
}

/** The address of a target. Only `open` contains the password, so that no listing or log of settings shows it (L15). */
export interface Address {
  /** For people: no password. */
  readonly shown: string;
  /** Equal for two addresses of one place, even with different users. */
  readonly place: string;
  /** How securely it is reached. */
  readonly transport: Transport;
  /** Opens it under the name from the settings. Loads only the driver of its kind, and connects at first use. */
  open(name: string, options?: OpenTargetOptions): Promise<Store>;
}
