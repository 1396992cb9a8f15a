/* The public interface of plumbline, for C and C++ (for Fortran: module plumb in plumb.f90).
 *
 * Link with -lplumb-api (pkg-config plumb). It is a small static library: the functions that place threads work by
 * themselves, whether or not the tool runs the program; the others do nothing without it.
 *
 * Relative CPUs. CPU n, counted from 0, is the n-th of the CPUs that the JOB was given on this node, in the order
 * of their numbers. They are found once, when the program is loaded:
 *   1. under `plumb pin` or `plumb run --pin`: the CPUs plumb found the job was given;
 *   2. in a process that an MPI launcher started: the CPUs of the launcher's daemon on this node (the launcher may
 *      have bound the process itself to a part of them, which does not change the numbers), or, when that daemon
 *      cannot be found, the CPUs that the kernel's cpuset grants;
 *   3. else the CPUs that the process was allowed when it started.
 * What the program or an OpenMP run-time library does with the mask afterwards does not matter.
 *
 * All functions may be called from any thread at any time and allocate nothing. Those that return int return 0 or
 * an errno value:
 *   EINVAL   there is no relative CPU n
 *   ENOSYS   the system has no such thing (no Linux, a kernel without memory policies)
 *   EPERM    the system forbids it (a container's system call filter)
 *   or what else the kernel answered.
 */
#ifndef PLUMB_PLUMB_H
#define PLUMB_PLUMB_H

#ifdef __cplusplus
extern "C" {
#endif

/* How many relative CPUs there are; 0: the system does not report it. */
int plumb_cpu_count(void);

/* The operating system's number of relative CPU n; -1: there is none. */
int plumb_cpu_number(int n);

/* Pins the calling thread to relative CPU n and takes the pages that it touches first from now on from that CPU's
 * NUMA node, from other nodes when that one is full. If the memory policy fails the thread is pinned all the
 * same. To be called by each thread before it touches its data, as in an OpenMP region right after MPI_Init:
 *
 *     #pragma omp parallel
 *     plumb_pin(3 * (4 * rank_on_node + omp_get_thread_num()));
 */
int plumb_pin(int n);

/* Only the one or the other. plumb_pin_memory does not move the thread. */
int plumb_pin_cpu(int n);
int plumb_pin_memory(int n);

/* 1 while the tool records this process, else 0. */
int plumb_is_recording(void);

/* Names what the calling thread does from begin to end in the tool's record. Regions nest; `name` is copied.
 * With --with counters the report shows how much of each sampled event falls into which region; what threads do that
 * never enter one counts for the regions of the first thread. Without the tool: one load and a branch. */
void plumb_region_begin(const char *name);
void plumb_region_end(const char *name);

#ifdef __cplusplus
}
#endif
#endif
