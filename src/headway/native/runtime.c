/* What every program needs: threads for engines and for what they issue, semaphores, memory.

   An engine is a thread that runs its stream. What it issues on a counter (itself or a queue) goes
   to the lanes of that counter: one thread if the counter is serial; two if it is pipelined, which
   take turns, so that an instruction may run before the one in front of it has completed.
   Completions of a counter come in order. A serial engine holds an instruction of its own until the
   one before has completed; a queue takes a transfer at once.

   Memory is plain: cells are read and written without atomics or locks, so that only semaphores
   order accesses. A completion adds to its semaphore with release, a wait looks with acquire.
   Nothing else may order two accesses by accident: jobs are never freed, a lane looks at the
   completion of the other one without acquire, and a third lane adds the tokens of flags.

   Looking for data races (PRECISE) a wait acquires the completion that it names and those before,
   and not what happens to have completed too: a race is found whether it showed this time or not.
   Each completion then has a mark of its own, in a ring; semaphores themselves are relaxed. */

#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef PRECISE
#define PRECISE 0
#endif

enum { RING = 4096 };
enum { LANES = 2, TOKENS = LANES, NOTHING = -1, DEADLOCK = 3, TRAP = 4 };

typedef struct Job {
  void (*run)(const int32_t *iterations);
  int32_t *iterations;
  long position;
  int post;
  bool is_last;
  _Atomic(struct Job *) next;
} Job;

typedef struct {
  const char *name;
  int lanes;
  bool has_tokens;
  Job *given[LANES + 1]; /* the last job of each lane: of its engine alone */
  atomic_long issued, completed, tokens, added;
  atomic_int marks[PRECISE ? RING : 1];
} Counter;

typedef struct {
  Counter *counter;
  Job *first;
  bool is_for_tokens;
  uint32_t dice;
} Lane;

typedef struct {
  _Atomic int64_t count;
  int width;
  bool is_signed;
  int holds; /* tokens that fit; 0 is any number */
  bool is_precise;
  Counter *counter; /* whose completions it holds; NULL for tokens and control reads */
  atomic_long given;
  long taken; /* by the engine that takes its tokens */
  atomic_long completions[PRECISE ? RING : 1]; /* which completion gave each signal */
  atomic_int marks[PRECISE ? RING : 1];        /* of tokens and control reads */
} Semaphore;

typedef struct {
  const char *name;
  long met[2];
  atomic_int waits_for; /* a semaphore, or NOTHING */
  _Atomic int64_t threshold;
  atomic_long passed;
  atomic_bool has_ended;
} Engine;

typedef struct {
  const char *name;
  long cells;
  int instructions, semaphores, counters, engines;
  void (*prepare)(void);
  void *(*const *streams)(void *);
} Program;

static uint64_t *cells;
static _Atomic uint64_t *seen; /* for each instruction the sum of what its instances computed */
static Semaphore *semaphores;
static Counter *counters;
static Engine *engines;
static int engine_count;

/* Values: what an instance writes is a hash of its name, iterations and all that it reads. */

static uint64_t mixed(uint64_t state, uint64_t value) {
  state = (state ^ value) * UINT64_C(0xD6E8FEB86659FD93);
  return state ^ (state >> 32);
}

static void remember(int instruction, uint64_t state) {
  atomic_fetch_add_explicit(&seen[instruction], state, memory_order_relaxed);
}

static uint64_t begun(uint64_t number) { return mixed(UINT64_C(0x9E3779B97F4A7C15), number); }

/* Registers: results that do not fit stop the program. */

static void trap(const char *what) {
  printf("trap %s\n", what);
  fflush(stdout);
  _exit(TRAP);
}

static inline int32_t word(int64_t value) {
  if (value < INT32_MIN || value > INT32_MAX) trap("a result does not fit a register");
  return (int32_t)value;
}

static inline int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) trap("division by zero");
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }
static inline int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t element(const int64_t *list, int64_t size, int64_t index) {
  if (index < 0 || index >= size) trap("an index is out of range");
  return list[index];
}

static inline int row(int64_t index, int size) {
  if (index < 0 || index >= size) trap("an index is out of range");
  return (int)index;
}

/* Semaphores. */

static int64_t value(const Semaphore *semaphore, int64_t count) {
  if (semaphore->width >= 63) return count;
  int64_t size = INT64_C(1) << semaphore->width, found = floor_mod(count, size);
  return semaphore->is_signed && found >= size / 2 ? found - size : found;
}

static bool holds(int number, int64_t threshold, memory_order order) {
  Semaphore *semaphore = &semaphores[number];
  int64_t count = atomic_load_explicit(&semaphore->count, order);
  return value(semaphore, count) >= value(semaphore, threshold);
}

static void mark(atomic_int *marks, long position) {
  atomic_fetch_add_explicit(&marks[position % RING], 1, memory_order_release);
}

static void acquire(atomic_int *marks, long position) {
  atomic_load_explicit(&marks[position % RING], memory_order_acquire);
}

/* Acquire a completion and those before it: the other lane has done the one in front. */
static void acquire_completions(Counter *counter, long position) {
  acquire(counter->marks, position);
  acquire(counter->marks, position + RING - 1);
}

static void add_one(Semaphore *semaphore) {
  memory_order order = semaphore->is_precise ? memory_order_relaxed : memory_order_release;
  int64_t count = atomic_load_explicit(&semaphore->count, memory_order_relaxed);
  if (!semaphore->holds) {
    atomic_fetch_add_explicit(&semaphore->count, 1, order);
    return;
  }
  do { /* a token that does not fit is lost */
    if (count >= semaphore->holds) return;
  } while (!atomic_compare_exchange_weak_explicit(&semaphore->count, &count, count + 1, order,
                                                  memory_order_relaxed));
}

/* Signal that the completion at `position` of its counter is there; others need no position. */
static void signal_one(int number, long position) {
  Semaphore *semaphore = &semaphores[number];
  long given = atomic_fetch_add_explicit(&semaphore->given, 1, memory_order_relaxed) + 1;
  if (semaphore->is_precise && semaphore->counter)
    atomic_store_explicit(&semaphore->completions[given % RING], position, memory_order_relaxed);
  else if (semaphore->is_precise)
    mark(semaphore->marks, given);
  add_one(semaphore);
}

static void stand(Engine *engine, int number, int64_t threshold) {
  memory_order order = semaphores[number].is_precise ? memory_order_relaxed : memory_order_acquire;
  atomic_store_explicit(&engine->threshold, threshold, memory_order_relaxed);
  atomic_store_explicit(&engine->waits_for, number, memory_order_relaxed);
  while (!holds(number, threshold, order)) sched_yield();
  atomic_store_explicit(&engine->waits_for, NOTHING, memory_order_relaxed);
  atomic_fetch_add_explicit(&engine->passed, 1, memory_order_relaxed);
}

static inline void wait_for(Engine *engine, int number, int64_t threshold) {
  Semaphore *semaphore = &semaphores[number];
  stand(engine, number, threshold);
  if (!semaphore->is_precise || threshold <= 0) return;
  if (!semaphore->counter) {
    acquire(semaphore->marks, threshold);
    return;
  }
  atomic_long *completion = &semaphore->completions[threshold % RING];
  acquire_completions(semaphore->counter, atomic_load_explicit(completion, memory_order_relaxed));
}

static inline void take(Engine *engine, int number) {
  Semaphore *semaphore = &semaphores[number];
  stand(engine, number, 1);
  if (semaphore->is_precise) acquire(semaphore->marks, ++semaphore->taken);
  atomic_fetch_sub_explicit(&semaphore->count, 1, memory_order_relaxed);
}

static inline void meet(Engine *engine, int number, int turn) {
  atomic_fetch_add_explicit(&semaphores[number].count, 1, memory_order_acq_rel);
  stand(engine, number, ++engine->met[turn] * engine_count);
}

static inline void clear(int first, int size) {
  for (int number = first; number < first + size; number++) {
    atomic_store_explicit(&semaphores[number].count, 0, memory_order_relaxed);
    atomic_store_explicit(&semaphores[number].given, 0, memory_order_relaxed);
  }
}

/* Counters. */

static Job *new_job(void) {
  Job *job = calloc(1, sizeof *job);
  if (!job) trap("out of memory");
  job->post = NOTHING;
  return job;
}

static void hand_over(Counter *counter, int lane, Job *job) {
  atomic_store_explicit(&counter->given[lane]->next, job, memory_order_release);
  counter->given[lane] = job;
}

static void give(Counter *counter, void (*run)(const int32_t *), int depth,
                 const int32_t *iterations, int post) {
  Job *job = new_job();
  job->run = run;
  if (depth) {
    job->iterations = malloc((size_t)depth * sizeof *iterations);
    if (!job->iterations) trap("out of memory");
    memcpy(job->iterations, iterations, (size_t)depth * sizeof *iterations);
  }
  job->post = post;
  long before = atomic_fetch_add_explicit(&counter->issued, 1, memory_order_relaxed);
  job->position = before + 1;
  hand_over(counter, (int)(before % counter->lanes), job);
}

/* Add a token when all that was issued has completed. */
static inline void set(Counter *counter, int semaphore) {
  Job *job = new_job();
  job->post = semaphore;
  job->position = atomic_load_explicit(&counter->issued, memory_order_relaxed);
  atomic_fetch_add_explicit(&counter->tokens, 1, memory_order_relaxed);
  hand_over(counter, TOKENS, job);
}

static inline void drain(Counter *counter) {
  long issued = atomic_load_explicit(&counter->issued, memory_order_relaxed);
  while (atomic_load_explicit(&counter->completed, memory_order_acquire) < issued) sched_yield();
}

static void complete(Lane *lane, Job *job) {
  Counter *counter = lane->counter;
  lane->dice = lane->dice * 1103515245 + 12345;
  if ((lane->dice >> 16) % 4 == 0) sched_yield(); /* other orders than the usual one */
  job->run(job->iterations);
  while (atomic_load_explicit(&counter->completed, memory_order_relaxed) < job->position - 1)
    sched_yield();
  if (PRECISE) mark(counter->marks, job->position);
  if (job->post != NOTHING) signal_one(job->post, job->position);
  atomic_fetch_add_explicit(&counter->completed, 1, memory_order_release);
}

static void add_token(Counter *counter, Job *job) {
  memory_order order = PRECISE ? memory_order_relaxed : memory_order_acquire;
  while (atomic_load_explicit(&counter->completed, order) < job->position) sched_yield();
  if (PRECISE) acquire_completions(counter, job->position);
  signal_one(job->post, 0);
  atomic_fetch_add_explicit(&counter->added, 1, memory_order_relaxed);
}

static void *run_lane(void *argument) {
  Lane *lane = argument;
  Job *job = lane->first;
  for (;;) {
    Job *next;
    while (!(next = atomic_load_explicit(&job->next, memory_order_acquire))) sched_yield();
    job = next;
    if (job->is_last) return NULL;
    if (lane->is_for_tokens)
      add_token(lane->counter, job);
    else
      complete(lane, job);
  }
}

/* The watchdog: a deadlock is a state in which nobody can do anything, however long one waits. */

static bool all_stand(void) {
  for (int number = 0; number < engine_count; number++) {
    Engine *engine = &engines[number];
    if (atomic_load_explicit(&engine->has_ended, memory_order_relaxed)) continue;
    int waits_for = atomic_load_explicit(&engine->waits_for, memory_order_relaxed);
    if (waits_for == NOTHING) return false;
    int64_t threshold = atomic_load_explicit(&engine->threshold, memory_order_relaxed);
    if (holds(waits_for, threshold, memory_order_relaxed)) return false;
  }
  return true;
}

static bool all_idle(const Program *program) {
  for (int number = 0; number < program->counters; number++) {
    long issued = atomic_load_explicit(&counters[number].issued, memory_order_relaxed);
    long completed = atomic_load_explicit(&counters[number].completed, memory_order_relaxed);
    long tokens = atomic_load_explicit(&counters[number].tokens, memory_order_relaxed);
    long added = atomic_load_explicit(&counters[number].added, memory_order_relaxed);
    if (issued != completed || tokens != added) return false;
  }
  return true;
}

static long progress(const Program *program) {
  long sum = 0;
  for (int number = 0; number < engine_count; number++)
    sum += atomic_load_explicit(&engines[number].passed, memory_order_relaxed);
  for (int number = 0; number < program->counters; number++) {
    sum += atomic_load_explicit(&counters[number].issued, memory_order_relaxed);
    sum += atomic_load_explicit(&counters[number].tokens, memory_order_relaxed);
  }
  return sum;
}

static bool have_ended(void) {
  for (int number = 0; number < engine_count; number++)
    if (!atomic_load_explicit(&engines[number].has_ended, memory_order_relaxed)) return false;
  return true;
}

static void report_deadlock(void) {
  for (int number = 0; number < engine_count; number++) {
    Engine *engine = &engines[number];
    if (atomic_load_explicit(&engine->has_ended, memory_order_relaxed)) continue;
    int waits_for = atomic_load_explicit(&engine->waits_for, memory_order_relaxed);
    int64_t count = atomic_load_explicit(&semaphores[waits_for].count, memory_order_relaxed);
    int64_t threshold = atomic_load_explicit(&engine->threshold, memory_order_relaxed);
    printf("deadlock %s waits for semaphore %d >= %" PRId64 ", which is %" PRId64 "\n",
           engine->name, waits_for, threshold, value(&semaphores[waits_for], count));
  }
  fflush(stdout);
  _exit(DEADLOCK);
}

static void watch(const Program *program) {
  const struct timespec pause = {0, 2000000};
  long before = -1;
  while (!have_ended()) {
    nanosleep(&pause, NULL);
    long now = progress(program);
    bool stands = all_stand() && all_idle(program);
    if (stands && now == before && progress(program) == now) report_deadlock();
    before = stands ? now : -1;
  }
}

/* A program from its beginning to its end. */

static bool has_lane(const Counter *counter, int lane) {
  return lane == TOKENS ? counter->has_tokens : lane < counter->lanes;
}

static pthread_t started(void *(*run)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, argument)) trap("no more threads");
  return thread;
}

static void *room(long count, size_t size) {
  void *found = calloc((size_t)count + 1, size);
  if (!found) trap("out of memory");
  return found;
}

static void run_program(const Program *program, uint32_t seed) {
  cells = room(program->cells, sizeof *cells);
  seen = room(program->instructions, sizeof *seen);
  semaphores = room(program->semaphores, sizeof *semaphores);
  counters = room(program->counters, sizeof *counters);
  engines = room(program->engines, sizeof *engines);
  engine_count = program->engines;
  for (long cell = 0; cell < program->cells; cell++) cells[cell] = (uint64_t)cell + 1;
  program->prepare();
  Lane *lanes = room(program->counters * (LANES + 1), sizeof *lanes);
  int most = program->counters * (LANES + 1) + program->engines;
  pthread_t *threads = room(most, sizeof *threads);
  int running = 0;
  for (int number = 0; number < program->counters; number++)
    for (int lane = 0; lane <= LANES; lane++) {
      if (!has_lane(&counters[number], lane)) continue;
      Job *first = counters[number].given[lane] = new_job();
      uint32_t dice = seed + (uint32_t)running * 7919;
      lanes[running] = (Lane){&counters[number], first, lane == TOKENS, dice};
      threads[running] = started(run_lane, &lanes[running]);
      running++;
    }
  int workers = running;
  for (int number = 0; number < program->engines; number++, running++) {
    atomic_store_explicit(&engines[number].waits_for, NOTHING, memory_order_relaxed);
    threads[running] = started(program->streams[number], &engines[number]);
  }
  watch(program);
  for (int number = workers; number < running; number++) pthread_join(threads[number], NULL);
  for (int number = 0; number < program->counters; number++)
    for (int lane = 0; lane <= LANES; lane++) {
      if (!has_lane(&counters[number], lane)) continue;
      Job *last = new_job();
      last->is_last = true;
      hand_over(&counters[number], lane, last);
    }
  for (int number = 0; number < workers; number++) pthread_join(threads[number], NULL);
  printf("program %s %ld\n", program->name, program->cells);
  for (long cell = 0; cell < program->cells; cell++) printf("%016" PRIx64 "\n", cells[cell]);
  for (int number = 0; number < program->instructions; number++)
    printf("%016" PRIx64 "\n", atomic_load_explicit(&seen[number], memory_order_relaxed));
  fflush(stdout);
}

static inline void end(Engine *engine) {
  atomic_store_explicit(&engine->has_ended, true, memory_order_relaxed);
}
