#define _GNU_SOURCE
#include "allowed_cpus.h"

#include <plumb/launchers.h>

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

static const char *variable(const void *context, const char *name) {
    (void)context;
    return getenv(name);
}

/* Name, parent and, if wanted, allowed CPUs of a process. 0: it cannot be read. */
static int read_status(long pid, char name[kNameRoom], long *parent, mask *cpus) {
    char path[64], text[8192];
    snprintf(path, sizeof path, "/proc/%ld/status", pid);
    if (!read_text(path, text, sizeof text))
        return 0;
    name[0] = '\0';
    sscanf(text, "Name:\t%15[^\n]", name);
    const char *line = strstr(text, "\nPPid:\t");
    *parent = line ? strtol(line + strlen("\nPPid:\t"), NULL, 10) : 0;
    const char *list = strstr(text, "\nCpus_allowed_list:\t");
    if (cpus && list)
        add_list(cpus, list + strlen("\nCpus_allowed_list:\t"));
    return 1;
}

static int process(const void *context, long pid, char name[kNameRoom], long *parent) {
    (void)context;
    return read_status(pid, name, parent, NULL);
}

static const Launcher *find_launcher(void) {
    const Surroundings around = {NULL, variable, process, getppid()};
    return find_rank(&around).launcher;
}

/* The mask of the nearest ancestor that starts ranks: of the launcher, or of any if it has no daemon of a known name.
 * 0: none was found. */
static int add_daemon(const Launcher *launcher, mask *to) {
    long pid = getppid();
    for (int i = 0; i < kMostAncestors && pid > 1; ++i) {
        char name[kNameRoom];
        mask cpus;
        memset(&cpus, 0, sizeof cpus);
        if (!read_status(pid, name, &pid, &cpus))
            return 0;
        if (is_daemon(launcher->daemons[0] ? launcher : NULL, name) && count(&cpus) > 0) {
            *to = cpus;
            return 1;
        }
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
    const Launcher *const launcher = count(&allowed) == 0 ? find_launcher() : NULL;
    if (launcher) {
        mask daemon, granted;
        memset(&daemon, 0, sizeof daemon);
        memset(&granted, 0, sizeof granted);
        add_cpuset(&granted);
        const int found = add_daemon(launcher, &daemon);
        for (int i = 0; i < WORDS; ++i) /* a daemon that belongs to the system may be allowed more than the job */
            allowed.words[i] = found ? daemon.words[i] & granted.words[i] : granted.words[i];
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
