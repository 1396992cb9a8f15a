/* The job's allowed CPUs, found once when the program is loaded: see plumb/plumb.h for what counts. */
#ifndef PLUMB_ALLOWED_CPUS_H
#define PLUMB_ALLOWED_CPUS_H

enum { PLUMB_MOST_CPUS = 1 << 16 };

/* Their number, and the n-th (0 <= n < number). */
int plumb_allowed_count(void);
int plumb_allowed_cpu(int n);

#endif
