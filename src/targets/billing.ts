import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * What the current run was billed so far, by a target that bills. Runs share the connection of their target, so that only the work that
 * asks it for something shows which of them a job belongs to.
 */
const bill = new AsyncLocalStorage<{ bytes: number }>();

/** Does the work of a run with a bill of its own. */
export const withBill = <T>(work: () => Promise<T>): Promise<T> => bill.run({ bytes: 0 }, work);

/** The bytes that the current run was billed; 0 outside of a run. */
export const billedBytes = (): number => bill.getStore()?.bytes ?? 0;

/** Puts bytes on the bill of the current run. */
export function addToBill(bytes: number): void {
  const current = bill.getStore();
  if (current !== undefined) current.bytes += bytes;
}
