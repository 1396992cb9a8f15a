// What the public interface answers and does, one line a fact. "pin N" pins to relative CPU N after narrowing the
// mask as an OpenMP run-time library may do; "regions" names regions.
#define _GNU_SOURCE
#include <plumb/plumb.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_mask(const char* what) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("%s:", what);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &cpus))
            printf(" %d", cpu);
    printf("\n");
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "facts";
    if (strcmp(what, "pin") == 0 && argc > 2) {
        const int n = atoi(argv[2]);
        cpu_set_t last;
        CPU_ZERO(&last);
        CPU_SET(plumb_cpu_number(plumb_cpu_count() - 1), &last);
        sched_setaffinity(0, sizeof last, &last);
        printf("pin_cpu: %d\n", plumb_pin_cpu(n));
        print_mask("mask");
        printf("pin: %d\n", plumb_pin(n));
        printf("pin_memory: %d\n", plumb_pin_memory(n));
    } else if (strcmp(what, "regions") == 0) {
        for (int i = 0; i < 3; ++i) {
            plumb_region_begin("outer");
            plumb_region_begin("inner");
            plumb_region_end("inner");
            plumb_region_end("outer");
        }
        plumb_region_begin(NULL);
        printf("recording: %d\n", plumb_is_recording());
    } else {
        printf("count: %d\n", plumb_cpu_count());
        printf("first: %d\n", plumb_cpu_number(0));
        printf("behind: %d\n", plumb_cpu_number(plumb_cpu_count()));
        printf("negative: %d\n", plumb_cpu_number(-1));
        print_mask("mask");
    }
    return 0;
}
