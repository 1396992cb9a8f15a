#define _GNU_SOURCE
#include "allowed_cpus.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/syscall.h>

enum { WORD_BITS = 8 * sizeof(unsigned long), WORDS = PLUMB_MOST_CPUS / WORD_BITS };

typedef struct {
    unsigned long words[WORDS];
} mask;

static mask allowed;
static int allowed_count;

static void add(mask *to, long cpu) {
    if (cpu >= 0 && cpu < PLUMB_MOST_CPUS)
        to->words[cpu / WORD_BITS] |= 1ul << (cpu % WORD_BITS);
}

static int contains(const mask *in, int cpu) { return (in->words[cpu / WORD_BITS] >> (cpu % WORD_BITS)) & 1; }

static int count(const mask *in) {
    int total = 0;
    for (int i = 0; i < WORDS; ++i)
        total += __builtin_popcountl(in->words[i]);
    return total;
}

/* The kernel's list format: 0-3,8. Anything else ends the list. */
static void add_list(mask *to, const char *text) {
    while (*text >= '0' && *text <= '9') {
        char *end;
        const long first = strtol(text, &end, 10);
        long last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu <= last && cpu < PLUMB_MOST_CPUS; ++cpu)
            add(to, cpu);
        text = *end == ',' ? end + 1 : end;
    }
}

/* The calling thread's mask, by system call: the C library's function may be wrapped by others. */
static void add_own(mask *to) {
    mask own;
    memset(&own, 0, sizeof own);
    syscall(SYS_sched_getaffinity, 0, sizeof own, &own);
    for (int i = 0; i < WORDS; ++i)
        to->words[i] |= own.words[i];
}

/* The kernel cuts every mask to the cpuset, so asking for all CPUs tells what it grants. */
static void add_cpuset(mask *to) {
    mask before, all;
    memset(&before, 0, sizeof before);
    memset(&all, 0xff, sizeof all);
    add_own(&before);
    if (syscall(SYS_sched_setaffinity, 0, sizeof all, &all) != 0)
        return;
    add_own(to);
    syscall(SYS_sched_setaffinity, 0, sizeof before, &before);
}

/* Reads the beginning of a small file; 0: it cannot be read. */
static int read_text(const char *path, char *text, size_t room) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    const ssize_t length = read(file, text, room - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static int is_rank(void) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
        "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "PMIX_LOCAL_RANK", "PMIX_RANK", "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i)
        if (getenv(variables[i]))
            return 1;
    return 0;
}

static int is_launcher(const char *name) {
    static const char *const names[] = {"orted", "prted", "prterun", "orterun", "mpirun", "mpiexec",
        "hydra_pmi_proxy", "hydra_pmi_prox", "mpiexec.hydra", "mpispawn", "palsd", "slurmstepd"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

/* The mask of the nearest ancestor that is an MPI launcher or its daemon. 0: none was found. */
static int add_launcher(mask *to) {
    long pid = getppid();
    for (int generation = 0; generation < 8 && pid > 1; ++generation) {
        char path[64], text[8192];
        snprintf(path, sizeof path, "/proc/%ld/status", pid);
        if (!read_text(path, text, sizeof text))
            return 0;
        char name[32] = "";
        sscanf(text, "Name:\t%31[^\n]", name);
        const char *list = strstr(text, "\nCpus_allowed_list:\t");
        if (is_launcher(name) && list) {
            add_list(to, list + strlen("\nCpus_allowed_list:\t"));
            return 1;
        }
        const char *parent = strstr(text, "\nPPid:\t");
        pid = parent ? strtol(parent + strlen("\nPPid:\t"), NULL, 10) : 0;
    }
    return 0;
}

/* Before main, and before an OpenMP run-time library binds the first thread. */
__attribute__((constructor)) static void find_allowed(void) {
    if (allowed_count > 0)
        return;
    const char *told = getenv("PLUMB_ALLOWED");
    if (told)
        add_list(&allowed, told);
    if (count(&allowed) == 0 && is_rank()) {
        mask launcher, granted;
        memset(&launcher, 0, sizeof launcher);
        memset(&granted, 0, sizeof granted);
        add_cpuset(&granted);
        const int found = add_launcher(&launcher);
        for (int i = 0; i < WORDS; ++i) /* a daemon that belongs to the system may be allowed more than the job */
            allowed.words[i] = found ? launcher.words[i] & granted.words[i] : granted.words[i];
    }
    if (count(&allowed) == 0)
        add_own(&allowed);
    allowed_count = count(&allowed);
}

int plumb_allowed_count(void) {
    find_allowed(); /* for callers that are constructors themselves */
    return allowed_count;
}

int plumb_allowed_cpu(int n) {
    for (int cpu = 0; cpu < PLUMB_MOST_CPUS; ++cpu)
        if (contains(&allowed, cpu) && n-- == 0)
            return cpu;
    return -1;
}
