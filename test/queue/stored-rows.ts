/** Lists everything in BullMQ's tables that belongs to a queue, as `queue:what`. */
export const STORED_ROWS = `
  SELECT queue || ':job:' || id AS name FROM bullmq.job
  UNION ALL SELECT queue || ':meta:' || field FROM bullmq.meta
  UNION ALL SELECT queue || ':event' FROM bullmq.event
  UNION ALL SELECT queue || ':schedule:' || scheduler_id FROM bullmq.scheduler
  UNION ALL SELECT child_queue || ':child:' || child_id FROM bullmq.job_dependency`;

/** Empties BullMQ's tables. */
export const FORGET_EVERYTHING = `
  TRUNCATE bullmq.job, bullmq.scheduler, bullmq.meta, bullmq.event, bullmq.job_dependency, bullmq.dedup
  CASCADE`;
