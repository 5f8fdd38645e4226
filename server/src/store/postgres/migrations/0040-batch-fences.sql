-- The fences of processes that record signals (signal-fence.ts).
create table batch_fences (
  id bigint generated always as identity primary key
);
