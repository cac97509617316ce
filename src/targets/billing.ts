import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The bytes that a target billed to the current run. Runs share their target's connection, so only the work that requests a job
 * shows which run the job belongs to.
 */
const bill = new AsyncLocalStorage<{ bytes: number }>();

/** Does the work of a run with its own bill. */
export const withBill = <T>(work: () => Promise<T>): Promise<T> => bill.run({ bytes: 0 }, work);

/** The bytes billed to the current run; 0 outside of a run. */
export const billedBytes = (): number => bill.getStore()?.bytes ?? 0;

/** Adds bytes to the bill of the current run. */
export function addToBill(bytes: number): void {
  const current = bill.getStore();
  if (current !== undefined) current.bytes += bytes;
}
