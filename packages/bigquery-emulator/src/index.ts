export { ApiError, type ErrorReason } from './api-error.ts';
export {
  startBigQueryEmulator,
  type BigQueryEmulator,
  type BigQueryEmulatorOptions,
} from './emulator.ts';
export type { FaultInjector, FaultRule } from './faults.ts';
export { GOOGLE_FAULTS } from './google-faults.ts';
export type { LoggedRequest, RequestLog } from './request-log.ts';
export type { StatementFaults } from './statement-faults.ts';
export type { LoggedStatement, StatementLog } from './statement-log.ts';
