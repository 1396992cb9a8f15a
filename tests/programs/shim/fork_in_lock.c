// Forks while other threads hold the loader's locks: one inside dl_iterate_phdr, one inside dlopen (in the constructor of the
// library). The child needs nothing of the loader and must end. A control that does ask the loader shows that the locks are
// held: it hangs until its alarm.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int held[2], go_on[2];

static int hold(struct dl_phdr_info* info, size_t size, void* unused) {
    char byte = 0;
    (void)info, (void)size, (void)unused;
    return write(held[1], &byte, 1) != 1 || read(go_on[0], &byte, 1) != 1 || 1;
}

static void* iterate(void* unused) {
    dl_iterate_phdr(hold, unused);
    return unused;
}

static void* load(void* unused) {
    char pipes[32];
    snprintf(pipes, sizeof pipes, "%d %d", held[1], go_on[0]);
    setenv("SLOW_PLUGIN_PIPES", pipes, 1);
    if (!dlopen("libslow_plugin.so", RTLD_NOW))
        abort();
    return unused;
}

static int count_objects(struct dl_phdr_info* info, size_t size, void* count) {
    (void)info, (void)size;
    ++*(int*)count;
    return 0;
}

static void ask_who_is_loaded(void) {
    int count = 0;
    dl_iterate_phdr(count_objects, &count);
}

static void ask_for_a_symbol(void) { dlsym(RTLD_DEFAULT, "malloc"); }

static void expect(const char* how, pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s: %d\n", how, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

static void try(void* (*holder)(void*), void (*ask)(void)) {
    pthread_t thread;
    char byte = 0;
    if (pthread_create(&thread, NULL, holder, NULL) || read(held[0], &byte, 1) != 1)
        abort();
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        free(malloc(100));
        _exit(10);
    }
    expect("fork", child);
    child = _Fork();
    if (child == 0) {
        alarm(20);
        _exit(11);
    }
    expect("_Fork", child);
    child = _Fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(1);
        ask();
        _exit(12);
    }
    expect("control", child);
    if (write(go_on[1], &byte, 1) != 1)
        abort();
    pthread_join(thread, NULL);
}

int main(void) {
    if (pipe(held) || pipe(go_on))
        return 1;
    setvbuf(stdout, NULL, _IONBF, 0);
    try(iterate, ask_who_is_loaded);
    try(load, ask_for_a_symbol);
    return 0;
}
