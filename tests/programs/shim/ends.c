// Ends in the way its argument names.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jmp_buf back;

static void leave_handler(int signal_number) {
    (void)signal_number;
    longjmp(back, 1);
}

static void say_bye(void) { printf("bye\n"); }

static void exit_in_handler(int signal_number) {
    (void)signal_number;
    _exit(7);
}

static void* end_process(void* argument) {
    (void)argument;
    exit(8);
}

static void* outlive_main(void* argument) {
    usleep(2000);
    return argument;
}

int main(int count, char** arguments) {
    const char* way = count > 1 ? arguments[1] : "return";
    atexit(say_bye);
    at_quick_exit(say_bye);
    fflush(stdout);
    pthread_t thread;
    if (!strcmp(way, "exit"))
        exit(3);
    if (!strcmp(way, "_exit"))
        _exit(4);
    if (!strcmp(way, "_Exit"))
        _Exit(5);
    if (!strcmp(way, "quick_exit"))
        quick_exit(6);
    if (!strcmp(way, "abort"))
        abort();
    if (!strcmp(way, "caught-abort")) {
        signal(SIGABRT, leave_handler);
        if (setjmp(back) == 0)
            abort();
        printf("went on\n");
        return 9;
    }
    if (!strcmp(way, "handler")) {
        signal(SIGUSR1, exit_in_handler);
        raise(SIGUSR1);
    }
    if (!strcmp(way, "other-thread")) {
        pthread_create(&thread, NULL, end_process, NULL);
        pause();
    }
    if (!strcmp(way, "pthread_exit")) {
        pthread_create(&thread, NULL, outlive_main, NULL);
        pthread_exit(NULL);
    }
    if (!strcmp(way, "fault"))
        raise(SIGSEGV);
    return 2;
}
