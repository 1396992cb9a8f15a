/* kinds SECONDS CPU TOUCHING_CPU FILE: memory of every kind that a program can map, touched on one CPU and read by a thread
   on another for so long: pages of a file of its own (MAP_PRIVATE: read, and written to), a memfd, memory shared with
   children, huge pages of hugetlbfs.

   Prints a line for each: its name, where it is, how many pages lie on node 0, 1, ...; or why it is not to be had. */
#include "place.h"

#include <fcntl.h>
#include <pthread.h>

enum { kBytes = 2 << 20, kMostKinds = 8 };

struct kind {
    const char* name;
    char* memory; /* null: not to be had */
    int error;
};

static struct kind kinds[kMostKinds];
static int kind_count;
static int reading_cpu;
static double run_seconds;
volatile long sink;

static void* mapped(const char* name, int protection, int flags, int file) {
    char* memory = mmap(NULL, kBytes, protection, flags, file, 0);
    struct kind* kind = &kinds[kind_count++];
    kind->name = name;
    kind->memory = memory == MAP_FAILED ? NULL : memory;
    kind->error = errno;
    return kind->memory;
}

static int file_of(const char* path) {
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    char* block = malloc(kBytes);
    memset(block, 1, kBytes);
    if (file < 0 || write(file, block, kBytes) != kBytes)
        give_up(path);
    free(block);
    return file;
}

__attribute__((noinline)) static long add_up(const char* memory) {
    long sum = 0;
    for (size_t i = 0; i < kBytes; i += sizeof(long))
        sum += *(const long*)(memory + i); /* use */
    return sum;
}

static void* work(void* unused) {
    pin_to(reading_cpu);
    const double end = seconds_of(CLOCK_MONOTONIC) + run_seconds;
    while (seconds_of(CLOCK_MONOTONIC) < end)
        for (int i = 0; i < kind_count; ++i)
            if (kinds[i].memory)
                for (int turn = 0; turn < 8; ++turn)
                    sink = sink + add_up(kinds[i].memory);
    return unused;
}

int main(int count, char** arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: kinds SECONDS CPU TOUCHING_CPU FILE\n");
        return 2;
    }
    run_seconds = atof(arguments[1]);
    reading_cpu = atoi(arguments[2]);
    pin_to(atoi(arguments[3]));
    const int file = file_of(arguments[4]);
    mapped("file-read", PROT_READ, MAP_PRIVATE, file);
    char* written = mapped("file-written", PROT_READ | PROT_WRITE, MAP_PRIVATE, file);
    const int memory_file = memfd_create("of-kinds", 0);
    char* memfd = NULL;
    if (memory_file >= 0 && ftruncate(memory_file, kBytes) == 0)
        memfd = mapped("memfd", PROT_READ | PROT_WRITE, MAP_SHARED, memory_file);
    char* shared = mapped("shared", PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
    char* huge = mapped("hugetlb", PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
    char* const touched[] = {written, memfd, shared, huge};
    for (size_t i = 0; i < sizeof touched / sizeof *touched; ++i)
        if (touched[i])
            memset(touched[i], 2, kBytes);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < kind_count; ++i) {
        if (!kinds[i].memory) {
            printf("%s missing %s\n", kinds[i].name, strerror(kinds[i].error));
            continue;
        }
        long pages[kMaxNodes] = {0};
        count_pages(kinds[i].memory, kBytes, pages);
        printf("%s %p", kinds[i].name, (void*)kinds[i].memory);
        for (int node = 0; node < kMaxNodes; ++node)
            printf(" %ld", pages[node]);
        printf("\n");
    }
    unlink(arguments[4]);
    return 0;
}
